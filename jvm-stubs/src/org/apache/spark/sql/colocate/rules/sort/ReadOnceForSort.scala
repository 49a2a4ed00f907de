package org.apache.spark.sql.colocate.rules.sort

import org.apache.spark.sql.catalyst.plans.physical.{HashPartitioning, RangePartitioning}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.scan.ColocatedScanExec
import org.apache.spark.sql.execution.adaptive.QueryStageExec
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.exchange.{Exchange, ShuffleExchangeExec}
import org.apache.spark.sql.execution.{ExpandExec, GenerateExec, SparkPlan}

/**
 * The range Exchange of a global ORDER BY runs its input twice: for a sample of the sort keys, then for the rows. Stock
 * Spark begins again at the last shuffle, whose files are still there; where we dropped it, at the tables. If all of
 * them are aggregated, the few rows that are left are shuffled once more, and the sample is taken of these. Rows of
 * joins alone are many: to read and join them again costs less than to shuffle them.
 */
object ReadOnceForSort extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan = plan.transformUp {
    case sorted @ ShuffleExchangeExec(by: RangePartitioning, rows, _, _)
        if readsTables(rows) && isAggregated(rows) =>
      val keys = by.ordering.map(_.child)
      sorted.withNewChildren(Seq(ShuffleExchangeExec(HashPartitioning(keys, conf.numShufflePartitions), rows)))
  }

  private def readsTables(plan: SparkPlan): Boolean = plan match {
    case _: Exchange | _: QueryStageExec => false
    case _: ColocatedScanExec => true
    case other => other.children.exists(readsTables)
  }

  /** Does no row of a table reach the sort without an aggregate, nor is multiplied after it? */
  private def isAggregated(plan: SparkPlan): Boolean = plan match {
    case _: Exchange | _: QueryStageExec => true
    case aggregate: BaseAggregateExec if aggregate.groupingExpressions.nonEmpty => true
    case _: GenerateExec | _: ExpandExec => false
    case other => other.children.nonEmpty && other.children.forall(isAggregated)
  }
}
