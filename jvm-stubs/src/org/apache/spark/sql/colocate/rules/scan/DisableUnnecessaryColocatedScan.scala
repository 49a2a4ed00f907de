package org.apache.spark.sql.colocate.rules.scan

import org.apache.spark.sql.catalyst.plans.physical.{BroadcastDistribution, Distribution, UnspecifiedDistribution}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.scan.{ColocatedScanExec, PrunableScans, ReadMode}
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.execution.joins.{BroadcastHashJoinExec, BroadcastNestedLoopJoinExec, ShuffledJoin}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

/** An operator that says by itself whether its input's whole buckets serve it, and what is asked above it. */
trait UsesBuckets {
  def usesBuckets: Boolean
}

/**
 * A bucketed scan that removes no Exchange only costs parallelism (SPARK-38207, Paimon #10076): the ordinary scan
 * comes back wherever no operator above, up to the next Exchange, asks for a distribution (design D10). Where whole
 * buckets are wanted, but not to meet those of another input, buckets without files get no task.
 */
object DisableUnnecessaryColocatedScan extends Rule[SparkPlan] {

  private sealed trait Need
  private case object Nothing extends Need
  private case object Whole extends Need
  private case object Aligned extends Need

  /** A plan that Spark caches is planned with that setting off: later queries are served by its layout. */
  override def apply(plan: SparkPlan): SparkPlan = {
    val prunable = if (DynamicBucketPruning.isActive) PrunableScans.in(plan) else Nil
    new Walk(scan => prunable.exists(_ eq scan)).from(plan, if (conf.autoBucketedScanEnabled) Nothing else Aligned)
  }

  private class Walk(isPrunable: ColocatedScanExec => Boolean) {

    def from(plan: SparkPlan, need: Need): SparkPlan = plan match {
      case scan: ColocatedScanExec => dealt(scan, need)
      case exchange: Exchange => exchange.mapChildren(from(_, Nothing))
      case own: UsesBuckets => plan.mapChildren(from(_, if (own.usesBuckets) Whole else Nothing))
      case _ if plan.children.isEmpty => plan
      case _ =>
        val required = plan.children.zip(plan.requiredChildDistribution)
        val walked = required.map { case (child, distribution) => from(child, below(plan, need, distribution)) }
        if (walked.zip(plan.children).forall { case (a, b) => a eq b }) plan else plan.withNewChildren(walked)
    }

    private def dealt(scan: ColocatedScanExec, need: Need): SparkPlan = (scan.mode, need) match {
      case (_: ReadMode.ByBucket, Nothing) => scan.ordinary(isPrunable(scan))
      case (_: ReadMode.ByBucket, Whole) if scan.readsWholeFiles => filled(scan)
      case _ => scan
    }
  }

  private def below(plan: SparkPlan, need: Need, distribution: Distribution): Need = plan match {
    case _: ShuffledJoin => Aligned
    case _ if asksFor(distribution) => Aligned
    case _: BroadcastHashJoinExec | _: BroadcastNestedLoopJoinExec | _: UnaryExecNode => need
    case _ => if (need == Nothing) Nothing else Aligned
  }

  /** Does the operator ask for a distribution, or rely on its children's as they were dealt out (a freed join)? */
  def meetsByTask(plan: SparkPlan): Boolean =
    plan.isInstanceOf[ShuffledJoin] || plan.requiredChildDistribution.exists(asksFor)

  private def asksFor(distribution: Distribution): Boolean = distribution match {
    case UnspecifiedDistribution | _: BroadcastDistribution => false
    case _ => true
  }

  private def filled(scan: ColocatedScanExec): SparkPlan = {
    val other = scan.copy(mode = ReadMode.ByFilledBucket)
    other.copyTagsFrom(scan)
    other
  }
}
