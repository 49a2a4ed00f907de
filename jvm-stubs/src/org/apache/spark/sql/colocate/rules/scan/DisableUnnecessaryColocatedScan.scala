package org.apache.spark.sql.colocate.rules.scan

import org.apache.spark.sql.catalyst.plans.physical.Distribution
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.scan.{ByTask, ColocatedScanExec, PrunableScans, ReadMode, UsesBuckets}
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.execution.joins.{BroadcastHashJoinExec, BroadcastNestedLoopJoinExec, ShuffledJoin}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

/**
 * Matches: a colocated scan that saves no shuffle: no operator above it, up to the next Exchange, requires a
 * distribution. Such a scan only costs parallelism (as in SPARK-38207).
 * Produces: the ordinary scan; if filters or a broadcast join need only few buckets, one that skips the files of all
 * others. For an operator with [[UsesBuckets]], which is not matched with tasks of another input, the scan stays, but
 * buckets without files get no task.
 * Not when: `spark.sql.sources.bucketing.autoBucketedScan.enabled` is off. Spark switches it off to plan a query for
 * its cache, because later queries may use the partitioning of the cached rows.
 */
object DisableUnnecessaryColocatedScan extends Rule[SparkPlan] {

  private sealed trait Need
  private case object NoLayout extends Need
  private case object WholeBuckets extends Need
  private case object SameTasks extends Need

  override def apply(plan: SparkPlan): SparkPlan = {
    val prunable = if (DynamicBucketPruning.isActive) PrunableScans.in(plan) else Nil
    new Walk(scan => prunable.exists(_ eq scan)).from(plan, if (conf.autoBucketedScanEnabled) NoLayout else SameTasks)
  }

  private class Walk(isPrunable: ColocatedScanExec => Boolean) {

    def from(plan: SparkPlan, need: Need): SparkPlan = plan match {
      case scan: ColocatedScanExec => modeFor(scan, need)
      case exchange: Exchange => exchange.mapChildren(from(_, NoLayout))
      case own: UsesBuckets => plan.mapChildren(from(_, if (own.usesBuckets) WholeBuckets else NoLayout))
      case _ if plan.children.isEmpty => plan
      case _ =>
        val required = plan.children.zip(plan.requiredChildDistribution)
        val walked = required.map { case (child, distribution) => from(child, below(plan, need, distribution)) }
        if (walked.zip(plan.children).forall { case (a, b) => a eq b }) plan else plan.withNewChildren(walked)
    }

    private def modeFor(scan: ColocatedScanExec, need: Need): SparkPlan = (scan.mode, need) match {
      case (_: ReadMode.ByBucket, NoLayout) => scan.ordinary(isPrunable(scan))
      case (_: ReadMode.ByBucket, WholeBuckets) if scan.readsWholeFiles => scan.readBy(ReadMode.ByFilledBucket)
      case _ => scan
    }
  }

  private def below(plan: SparkPlan, need: Need, distribution: Distribution): Need = plan match {
    case _: ShuffledJoin => SameTasks
    case _ if ByTask.requires(distribution) => SameTasks
    case _: BroadcastHashJoinExec | _: BroadcastNestedLoopJoinExec | _: UnaryExecNode => need
    case _ => if (need == NoLayout) NoLayout else SameTasks
  }
}
