package org.apache.spark.sql.colocate.rules.aggregate

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.rules.join.UnevenBuckets
import org.apache.spark.sql.colocate.rules.{ExchangeFreeSubtrees, PlanWalk, RerunEnsureRequirements}
import org.apache.spark.sql.colocate.scan.ColocatedScanExec
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.{ColumnarToRowExec, FilterExec, ProjectExec, SortExec, SparkPlan}

/**
 * An aggregate by the key of one table takes as long as its largest bucket, or its buckets are too few for the cores;
 * stock Spark sums up files that are cut evenly first, and shuffles the groups. Where the work by bucket is that uneven,
 * the shuffle costs less, and the table is read as an ordinary one. Only an aggregate whose layout nothing above uses.
 */
case class ShuffleUnevenAggregates(session: SparkSession) extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan = RerunEnsureRequirements.after(plan)(ExchangeFreeSubtrees.map(_) {
    case top: BaseAggregateExec if ExchangeFreeSubtrees.scans(top).isDefined => ShuffleUnevenAggregates.leafBelow(top) match {
        case Some(scan: ColocatedScanExec) if isUneven(top, scan) => readOrdinarily(top)
        case _ => top
      }
    case other => other
  })

  /** A sum over all rows shuffles one row of each task, which costs nothing: even two cores are better than one bucket. */
  private def isUneven(top: BaseAggregateExec, scan: ColocatedScanExec): Boolean = {
    val buckets = UnevenBuckets(session)
    if (top.groupingExpressions.isEmpty) buckets.beyond(scan, 1) else buckets.in(scan)
  }

  private def readOrdinarily(top: SparkPlan): SparkPlan = top.transformUp {
    case scan: ColocatedScanExec => scan.ordinary(prunable = false)
  }
}

object ShuffleUnevenAggregates {

  /** What an aggregate in two steps reads, with nothing but projections and filters below its first step. */
  private def leafBelow(last: BaseAggregateExec): Option[SparkPlan] =
    if (last.requiredChildDistributionExpressions.isDefined) leafOfFirstStep(last.child) else None

  def leafOfFirstStep(plan: SparkPlan): Option[SparkPlan] = PlanWalk.unwrap(plan) match {
    case first: BaseAggregateExec if first.requiredChildDistributionExpressions.isEmpty => leaf(first.child)
    case SortExec(_, false, child, _) => leafOfFirstStep(child)
    case _ => None
  }

  private def leaf(plan: SparkPlan): Option[SparkPlan] = PlanWalk.unwrap(plan) match {
    case one @ (_: ProjectExec | _: FilterExec | _: ColumnarToRowExec | _: SortExec) => leaf(one.children.head)
    case other => Option.when(other.children.isEmpty)(other)
  }
}
