package org.apache.spark.sql.colocate.plan

import org.apache.spark.sql.catalyst.plans.physical.{ClusteredDistribution, Partitioning, PartitioningCollection}
import org.apache.spark.sql.execution.{SortExec, SparkPlan}
import org.apache.spark.sql.execution.exchange.{ENSURE_REQUIREMENTS, Exchange, ShuffleExchangeExec}

/** What rules over joins ask of a join's children: the Exchange on top, the layout below it, how much is shuffled. */
private[plan] object JoinSides {

  def unsorted(plan: SparkPlan): SparkPlan = plan match {
    case SortExec(_, false, child, _) => child
    case other => other
  }

  /** The input of an Exchange that only EnsureRequirements wanted; None for any other plan. */
  def belowExchange(plan: SparkPlan): Option[SparkPlan] = unsorted(plan) match {
    case exchange: ShuffleExchangeExec if exchange.shuffleOrigin == ENSURE_REQUIREMENTS => Some(exchange.child)
    case _ => None
  }

  /** The bucket partitioning of a plan that serves a distribution. */
  def layoutFor(plan: SparkPlan, distribution: ClusteredDistribution): Option[ColocatedPartitioning] =
    all(plan.outputPartitioning).find(_.satisfies(distribution))

  private def all(partitioning: Partitioning): Seq[ColocatedPartitioning] = partitioning match {
    case colocated: ColocatedPartitioning => Seq(colocated)
    case PartitioningCollection(several) => several.flatMap(all)
    case _ => Nil
  }

  def exchanges(plan: SparkPlan): Int = plan.collect { case e: Exchange => e }.size

  /** Bytes that the optimizer expects from a plan; None for a node without a logical counterpart. */
  def expectedBytes(plan: SparkPlan): Option[BigInt] = plan.logicalLink.map(_.stats.sizeInBytes)

  /** The same subtree with its bucketed scans, those not behind an Exchange, read as `tasks` buckets. */
  def readAs(plan: SparkPlan, tasks: Int): SparkPlan = plan match {
    case exchange: Exchange => exchange
    case scan: ColocatedScanExec =>
      val read = scan.copy(mode = ReadMode.ByBucket(tasks))
      read.copyTagsFrom(scan)
      read
    case other => other.mapChildren(readAs(_, tasks))
  }
}
