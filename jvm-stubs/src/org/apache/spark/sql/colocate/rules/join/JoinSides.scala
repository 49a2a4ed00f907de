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
 * What the rules for joins need to know about the children of a join: the Exchange on top, the partitioning below it,
 * how much is shuffled; and the same join with other children.
 */
private[colocate] object JoinSides {

  def unsorted(plan: SparkPlan): SparkPlan = plan match {
    case SortExec(_, false, child, _) => child
    case other => other
  }

  /** The side that a hash join makes its table of. */
  def built(join: HashJoin): SparkPlan = if (join.buildSide == BuildLeft) join.left else join.right

  /** The side whose rows look into that table. */
  def streamed(join: HashJoin): SparkPlan = if (join.buildSide == BuildLeft) join.right else join.left

  /** The input of an Exchange that EnsureRequirements added; None for any other plan. */
  def belowExchange(plan: SparkPlan): Option[SparkPlan] = unsorted(plan) match {
    case exchange: ShuffleExchangeExec if exchange.shuffleOrigin == ENSURE_REQUIREMENTS => Some(exchange.child)
    case _ => None
  }

  /** A side as it was before EnsureRequirements. */
  def bare(plan: SparkPlan): SparkPlan = belowExchange(plan).getOrElse(unsorted(plan))

  /** The join over these sides, with the Exchanges and sorts that it needs. */
  def ensure(join: ShuffledJoin, left: SparkPlan, right: SparkPlan): SparkPlan =
    RerunEnsureRequirements(join.withNewChildren(Seq(left, right)))

  /**
   * Plans a join again if a rule changed the number of tasks of a join below: the other side, which was shuffled to the
   * old buckets, may need no shuffle now, or one to the new buckets.
   */
  def matched(join: ShuffledJoin): SparkPlan =
    if (join.isSkewJoin || join.children.map(_.outputPartitioning.numPartitions).distinct.size == 1) join
    else ensure(join, bare(join.left), bare(join.right))

  /** The bucket partitioning of a plan that serves a distribution. */
  def layoutFor(plan: SparkPlan, distribution: ClusteredDistribution): Option[ColocatedPartitioning] =
    ColocatedPartitioning.all(plan.outputPartitioning).find(_.satisfies(distribution))

  def exchanges(plan: SparkPlan): Int = plan.collect { case e: Exchange => e }.size

  /** Bytes that the optimizer expects from a plan; None for a node without a logical counterpart. */
  def expectedBytes(plan: SparkPlan): Option[BigInt] = plan.logicalLink.map(_.stats.sizeInBytes)

  /** The same subtree with its bucketed scans, those not behind an Exchange, read as `tasks` buckets. */
  def readAs(plan: SparkPlan, tasks: Int): SparkPlan = readBy(plan)(_ => ReadMode.ByBucket(tasks))

  def readBy(plan: SparkPlan)(mode: ColocatedScanExec => ReadMode): SparkPlan = plan match {
    case exchange: Exchange => exchange
    case scan: ColocatedScanExec =>
      val read = scan.copy(mode = mode(scan))
      read.copyTagsFrom(scan)
      read
    case other => other.mapChildren(readBy(_)(mode))
  }
}
