package org.apache.spark.sql.colocate.rules.sort

import org.apache.spark.sql.catalyst.plans.physical.{HashPartitioning, RangePartitioning}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.rules.OnAnyPlan
import org.apache.spark.sql.colocate.scan.ColocatedScanExec
import org.apache.spark.sql.execution.adaptive.{QueryStageExec, ShuffleQueryStageExec}
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.exchange.{ENSURE_REQUIREMENTS, Exchange, ShuffleExchangeExec}
import org.apache.spark.sql.execution.{CoalesceExec, ExpandExec, GenerateExec, SparkPlan}
import org.apache.spark.sql.internal.SQLConf

/**
 * Matches: the range Exchange of a global ORDER BY above tables that are read by bucket and aggregated. It runs its
 * input twice: for a sample of the sort keys, then for the rows. Stock Spark begins again at the last shuffle, whose
 * files are still there; where we dropped it, at the tables.
 * Produces: one more shuffle of the few rows that are left, of which the sample is taken. When AQE plans again after
 * that shuffle and its rows are fewer than the smallest partition that AQE makes: one task that sorts them, without
 * range Exchange and sample.
 * Not when: rows of a table reach the sort without an aggregate. A join without an aggregate returns many rows:
 * reading and joining them again costs less than shuffling them.
 */
object ReadOnceForSort extends Rule[SparkPlan] with OnAnyPlan {

  // When AQE plans again, the scans are hidden in the stages that have run.
  override val changesLayout = true

  override def apply(plan: SparkPlan): SparkPlan = plan.transformUp {
    case ShuffleExchangeExec(_: RangePartitioning, rows: ShuffleQueryStageExec, ENSURE_REQUIREMENTS, _)
        if readsTables(rows.shuffle.child) && isSmall(rows) => CoalesceExec(1, rows)
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

  private def isSmall(stage: ShuffleQueryStageExec): Boolean =
    stage.isMaterialized && stage.mapStats.exists {
      _.bytesByPartitionId.sum <= conf.getConf(SQLConf.COALESCE_PARTITIONS_MIN_PARTITION_SIZE)
    }
}
