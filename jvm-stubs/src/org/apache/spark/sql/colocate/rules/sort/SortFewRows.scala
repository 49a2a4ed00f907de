package org.apache.spark.sql.colocate.rules.sort

import org.apache.spark.sql.catalyst.plans.physical.RangePartitioning
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.rules.OnAnyPlan
import org.apache.spark.sql.colocate.scan.ColocatedScanExec
import org.apache.spark.sql.execution.adaptive.ShuffleQueryStageExec
import org.apache.spark.sql.execution.exchange.{ENSURE_REQUIREMENTS, ShuffleExchangeExec}
import org.apache.spark.sql.execution.{CoalesceExec, SparkPlan}
import org.apache.spark.sql.internal.SQLConf

/**
 * Matches: the range Exchange of a global sort above a shuffle of [[ReadOnceForSort]] that has run under AQE, so that
 * its size is known.
 * Produces: one task that sorts the rows: no range Exchange, and no sample for it.
 * Not when: the rows are more than the smallest partition that AQE makes of a shuffle.
 */
object SortFewRows extends Rule[SparkPlan] with OnAnyPlan {

  // When AQE plans again, the scans are hidden in the stages that have run.
  override val changesLayout = true

  override def apply(plan: SparkPlan): SparkPlan = plan.transformUp {
    case sorted @ ShuffleExchangeExec(_: RangePartitioning, rows: ShuffleQueryStageExec, ENSURE_REQUIREMENTS, _)
        if isOurs(rows) && isSmall(rows) =>
      val one = CoalesceExec(1, rows)
      one.copyTagsFrom(sorted)
      one
  }

  private def isOurs(stage: ShuffleQueryStageExec): Boolean =
    stage.shuffle.child.exists(_.isInstanceOf[ColocatedScanExec])

  private def isSmall(stage: ShuffleQueryStageExec): Boolean =
    stage.isMaterialized && stage.mapStats.exists {
      _.bytesByPartitionId.sum <= conf.getConf(SQLConf.COALESCE_PARTITIONS_MIN_PARTITION_SIZE)
    }
}
