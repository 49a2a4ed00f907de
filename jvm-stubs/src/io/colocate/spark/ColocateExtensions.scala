package io.colocate.spark

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.SparkVersion
import org.apache.spark.sql.colocate.explain.ExplainProvider
import org.apache.spark.sql.colocate.hiding.{FinishVisibleColumns, HideBucketColumn}
import org.apache.spark.sql.colocate.plan.{PlanColocatedScans, TuneColocatedPlan, TuneWithoutAqe}

/**
 * The wiring, phase by phase. Names that users type live in this package; what they do, in
 * org.apache.spark.sql.colocate.
 *
 * {{{
 *   SQL text -> parser -> hints -> resolution -> optimizer -> strategies -> EnsureRequirements -> tuning -> execution
 *                          |                                  |                                   |
 *                  HideBucketColumn                PlanColocatedScans                  TuneColocatedPlan
 * }}}
 */
class ColocateExtensions extends (SparkSessionExtensions => Unit) {

  override def apply(extensions: SparkSessionExtensions): Unit = {
    SparkVersion.check()

    // EXPLAIN: the section that tells why, without a setting of the user's
    ExplainProvider.register()
    // before relations are resolved: a read of a bucketed Delta table shows the user's columns
    extensions.injectHintResolutionRule(s => HideBucketColumn(s.asInstanceOf[SparkSession]))

    // between analysis and cache look-up
    extensions.injectPlanNormalizationRule(_ => FinishVisibleColumns)

    // planning: the scan of a member becomes a scan by buckets
    extensions.injectPlannerStrategy(s => PlanColocatedScans(s.asInstanceOf[SparkSession]))

    // after EnsureRequirements: what only the whole plan can tell
    extensions.injectQueryStagePrepRule(s => TuneColocatedPlan(s.asInstanceOf[SparkSession]))
    extensions.injectColumnar(s => TuneWithoutAqe(s.asInstanceOf[SparkSession]))
  }
}
