package org.apache.spark.sql.colocate.rules.aggregate

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.rules.join.UnevenBuckets
import org.apache.spark.sql.colocate.rules.{PlanWalk, RerunEnsureRequirements}
import org.apache.spark.sql.colocate.scan.{ColocatedScanExec, ExchangeFreeSubtrees}
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.{ColumnarToRowExec, FilterExec, ProjectExec, SortExec, SparkPlan}

/**
 * Matches: an aggregate by the key of one table, whose buckets are very uneven or fewer than the cores. It takes as
 * long as its largest bucket; stock Spark first aggregates files that are cut evenly, and shuffles the groups.
 * Produces: stock Spark's plan: an ordinary scan, and the shuffle between the two steps, which costs less than the long
 * task.
 * Not when: an operator above uses the partitioning of the aggregate, or more than one table is read below it.
 */
case class ShuffleUnevenAggregates(session: SparkSession) extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan = RerunEnsureRequirements.after(plan)(ExchangeFreeSubtrees.map(_) {
    case top: BaseAggregateExec if ExchangeFreeSubtrees.scans(top).isDefined =>
      ShuffleUnevenAggregates.leafBelow(top) match {
        case Some(scan: ColocatedScanExec) if isUneven(top, scan) => readOrdinarily(top)
        case _ => top
      }
    case other => other
  })

  /**
   * An aggregate without groups shuffles one row of each task, which costs nothing: there two tasks are better than
   * one.
   */
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
