package org.apache.spark.sql.colocate.rules.semantics

import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, RepartitionByExpression}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.classic.Strategy
import org.apache.spark.sql.colocate.rules.Rewrite
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.{REPARTITION_BY_COL, REPARTITION_BY_NUM, ShuffleExchangeExec}

/**
 * Matches: a user's `repartition(n, k)`. Spark drops it if the shuffle of a join below distributes rows in the same
 * way, and then only the logical plan still shows the repartition.
 * Produces: a tag on the logical plan whose rows are repartitioned. No plan is changed.
 * Not when: rows are repartitioned by a range or in turn, which no join's shuffle does.
 */
object MarkRepartitioned extends Strategy {

  private val Asked = TreeNodeTag[Unit]("colocate.repartitioned")

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = {
    plan match {
      case repartition: RepartitionByExpression if repartition.partitioning.isInstanceOf[HashPartitioning] =>
        Rewrite.orElse("MarkRepartitioned", ())(repartition.child.setTagValue(Asked, ()))
      case _ =>
    }
    Nil
  }

  /** Whether a repartition is dropped here, so that whoever removes a shuffle may remove what the user asked for. */
  def isDropped(plan: SparkPlan): Boolean =
    isAsked(plan) || plan.exists(parent => !isRepartition(parent) && parent.children.exists(isAsked))

  // The topmost operator that a logical node was planned as has this tag, those below inherit another one.
  private def isAsked(plan: SparkPlan): Boolean =
    plan.getTagValue(SparkPlan.LOGICAL_PLAN_TAG).exists(_.getTagValue(Asked).isDefined)

  private def isRepartition(plan: SparkPlan): Boolean = plan match {
    case shuffle: ShuffleExchangeExec =>
      shuffle.shuffleOrigin == REPARTITION_BY_COL || shuffle.shuffleOrigin == REPARTITION_BY_NUM
    case _ => false
  }
}
