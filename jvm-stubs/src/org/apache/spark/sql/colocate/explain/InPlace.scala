package org.apache.spark.sql.colocate.explain

import org.apache.spark.sql.colocate.rules.PlanWalk
import org.apache.spark.sql.colocate.write.merge.GatherOnDriverExec
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.exchange.{BroadcastExchangeLike, Exchange}
import org.apache.spark.sql.execution.joins.{BroadcastHashJoinExec, BroadcastNestedLoopJoinExec}

/**
 * Finds whether the rows of a plan are still in the buckets of a table's files, so that an operator above needs no
 * Exchange of its own. An Exchange of one side of a join below belongs to that join: the rows of the other side have
 * not moved.
 */
private[explain] object InPlace {

  def apply(plan: SparkPlan): Boolean = PlanWalk.unwrap(plan) match {
    case moved if movesRows(moved) => false
    case join if isBroadcastJoin(join) => streamed(join).forall(apply)
    case join: BinaryExecNode => join.children.exists(apply)
    case other => other.children.forall(apply)
  }

  /** The scans and caches that rows come from without an Exchange. */
  def leaves(plan: SparkPlan): Seq[SparkPlan] = PlanWalk.unwrap(plan) match {
    case moved if movesRows(moved) => Nil
    case join if isBroadcastJoin(join) => streamed(join).flatMap(leaves)
    case leaf if leaf.children.isEmpty => Seq(leaf)
    case other => other.children.flatMap(leaves)
  }

  def isBroadcastJoin(plan: SparkPlan): Boolean = plan match {
    case _: BroadcastHashJoinExec | _: BroadcastNestedLoopJoinExec => true
    case _ => false
  }

  /** Some operators shuffle all rows into one task without a node of its own for it. */
  private def movesRows(plan: SparkPlan): Boolean = plan match {
    case _: Exchange => true
    case _: TakeOrderedAndProjectExec | _: CollectLimitExec | _: CollectTailExec | _: GatherOnDriverExec => true
    case _ => false
  }

  private def streamed(join: SparkPlan): Seq[SparkPlan] =
    join.children.filterNot(side => PlanWalk.unwrap(side).isInstanceOf[BroadcastExchangeLike])
}
