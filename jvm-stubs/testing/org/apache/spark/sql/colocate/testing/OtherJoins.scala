package org.apache.spark.sql.colocate.testing

import org.apache.spark.sql.catalyst.plans.JoinType
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.joins.{BroadcastHashJoinExec, ShuffledHashJoinExec, SortMergeJoinExec}

/** A plan with joins of other types, and back. */
private[testing] object OtherJoins {

  private val Right = TreeNodeTag[JoinType]("colocate.testing.rightJoin")

  def of(plan: SparkPlan)(other: PartialFunction[JoinType, JoinType]): SparkPlan = plan.transformUp {
    case join: SortMergeJoinExec if other.isDefinedAt(join.joinType) =>
      marked(join, join.copy(joinType = other(join.joinType)), join.joinType)
    case join: ShuffledHashJoinExec if other.isDefinedAt(join.joinType) =>
      marked(join, join.copy(joinType = other(join.joinType)), join.joinType)
    case join: BroadcastHashJoinExec if other.isDefinedAt(join.joinType) && !join.isNullAwareAntiJoin =>
      marked(join, join.copy(joinType = other(join.joinType)), join.joinType)
  }

  private def marked(join: SparkPlan, wrong: SparkPlan, right: JoinType): SparkPlan = {
    wrong.copyTagsFrom(join)
    wrong.setTagValue(Right, right)
    wrong
  }

  def back(plan: SparkPlan): SparkPlan = plan.transformUp {
    case join: SparkPlan if join.getTagValue(Right).isDefined => ofType(join, join.getTagValue(Right).get)
  }

  private def ofType(join: SparkPlan, joinType: JoinType): SparkPlan = {
    val right = join match {
      case merge: SortMergeJoinExec => merge.copy(joinType = joinType)
      case hash: ShuffledHashJoinExec => hash.copy(joinType = joinType)
      case broadcast: BroadcastHashJoinExec => broadcast.copy(joinType = joinType)
      case other => other
    }
    right.copyTagsFrom(join)
    right.unsetTagValue(Right)
    right
  }
}
