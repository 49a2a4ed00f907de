package org.apache.spark.sql.colocate.rules.join

import org.apache.spark.sql.catalyst.optimizer.BuildLeft
import org.apache.spark.sql.catalyst.plans.physical.ClusteredDistribution
import org.apache.spark.sql.colocate.partitioning.ColocatedPartitioning
import org.apache.spark.sql.colocate.rules.RerunEnsureRequirements
import org.apache.spark.sql.colocate.scan.{ColocatedScanExec, ReadMode}
import org.apache.spark.sql.execution.exchange.{ENSURE_REQUIREMENTS, Exchange, ShuffleExchangeExec}
import org.apache.spark.sql.execution.joins.{HashJoin, ShuffledJoin}
import org.apache.spark.sql.execution.{SortExec, SparkPlan}

/**
 * Helpers for rules on joins: the Exchange and sort on top of a join's child, the partitioning below them, the number
 * of Exchanges in a plan, and the same join with other children.
 */
private[colocate] object JoinSides {

  def unsorted(plan: SparkPlan): SparkPlan = plan match {
    case SortExec(_, false, child, _) => child
    case other => other
  }

  /** The build side of a hash join. */
  def built(join: HashJoin): SparkPlan = if (join.buildSide == BuildLeft) join.left else join.right

  /** The other side, whose rows are looked up in the hash table. */
  def streamed(join: HashJoin): SparkPlan = if (join.buildSide == BuildLeft) join.right else join.left

  /** The input of an Exchange that EnsureRequirements added; None for any other plan. */
  def belowExchange(plan: SparkPlan): Option[SparkPlan] = unsorted(plan) match {
    case exchange: ShuffleExchangeExec if exchange.shuffleOrigin == ENSURE_REQUIREMENTS => Some(exchange.child)
    case _ => None
  }

  /** A child without the Exchange and the sort that EnsureRequirements added. */
  def bare(plan: SparkPlan): SparkPlan = belowExchange(plan).getOrElse(unsorted(plan))

  /** The join of these children, with the Exchanges and sorts that it requires. */
  def ensure(join: ShuffledJoin, left: SparkPlan, right: SparkPlan): SparkPlan =
    RerunEnsureRequirements(join.withNewChildren(Seq(left, right)))

  /**
   * Plans a join again if its children have different numbers of tasks, because a rule has changed a join below one of
   * them. The other child was shuffled for the old number; it may need no shuffle now, or another one.
   */
  def matched(join: ShuffledJoin): SparkPlan =
    if (join.isSkewJoin || join.children.map(_.outputPartitioning.numPartitions).distinct.size == 1) join
    else ensure(join, bare(join.left), bare(join.right))

  /** The bucket partitioning of a plan's output, if it satisfies the distribution. */
  def layoutFor(plan: SparkPlan, distribution: ClusteredDistribution): Option[ColocatedPartitioning] =
    ColocatedPartitioning.all(plan.outputPartitioning).find(_.satisfies(distribution))

  def exchanges(plan: SparkPlan): Int = plan.collect { case e: Exchange => e }.size

  /** The plan with its colocated scans, down to the next Exchanges, read as `tasks` buckets. */
  def readAs(plan: SparkPlan, tasks: Int): SparkPlan = readBy(plan)(_ => ReadMode.ByBucket(tasks))

  def readBy(plan: SparkPlan)(mode: ColocatedScanExec => ReadMode): SparkPlan = plan match {
    case exchange: Exchange => exchange
    case scan: ColocatedScanExec => scan.readBy(mode(scan))
    case other => other.mapChildren(readBy(_)(mode))
  }
}
