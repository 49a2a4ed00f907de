package io.colocate.spark

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.catalog.describe.ShowAsDeclared
import org.apache.spark.sql.colocate.catalog.{RefuseHiveMembers, WrapNativeDdl}
import org.apache.spark.sql.colocate.columns.{CheckHiding, ExpandMergeStars, FinishVisibleColumns, HideBucketColumn, UnaliasWriteTargets}
import org.apache.spark.sql.colocate.compat.hooks.SelfCheck
import org.apache.spark.sql.colocate.compat.{ExecutorJars, SparkVersion}
import org.apache.spark.sql.colocate.conf.{RefuseUnknownSettings, SettingEntries}
import org.apache.spark.sql.colocate.evidence.manifest.WaitForManifests
import org.apache.spark.sql.colocate.explain.ExplainProvider
import org.apache.spark.sql.colocate.parser.ColocateParser
import org.apache.spark.sql.colocate.rules.aggregate.PlanExpands
import org.apache.spark.sql.colocate.rules.join.PlanFullOuterJoins
import org.apache.spark.sql.colocate.rules.scan.{DynamicBucketPruning, PlanColocatedScans}
import org.apache.spark.sql.colocate.rules.semantics.MarkRepartitioned
import org.apache.spark.sql.colocate.rules.shuffle.{BufferShuffledRows, BufferWithoutAqe, PackShuffledRows, PackWithoutAqe}
import org.apache.spark.sql.colocate.rules.sort.PlanLocalSorts
import org.apache.spark.sql.colocate.rules.{ExtensionOrder, OptimizeColocatedPlan, OptimizeWithoutAqe, PostColumnarRules}
import org.apache.spark.sql.colocate.write.merge.{JoinFileListLocally, PlainMergeSource}
import org.apache.spark.sql.colocate.write.{CarryWriterOptions, CheckBucketKeys, FillBucketColumn, KeepNativeLayout, LayOutPathWrites, LayOutWrites, PlanBucketedWrite, RefuseLossyWrites, RefuseShadowedHash, SplitLargeBuckets}

/**
 * The wiring, phase by phase. Names that users type live in this package; what they do, in
 * org.apache.spark.sql.colocate.
 *
 * {{{
 *   SQL text -> parser -> hints -> resolution -> optimizer -> strategies -> EnsureRequirements -> tuning -> execution
 *               |          |          |                       |                                   |            |
 *        ColocateParser    |   ShowAsDeclared                   |                         OptimizeColocatedPlan      |
 *                          |   WrapNativeDdl, KeepNativeLayout  |                         PackShuffledRows  DynamicBucketPruning
 *                          |   CarryWriterOptions     PlanColocatedScans                               FuseHashJoins
 *            HideBucketColumn  FillBucketColumn       PlanBucketedWrite              BufferShuffledRows AggregateRuns
 *                              LayOutWrites           JoinFileListLocally
 *                              PlainMergeSource       PlanExpands                                      DropPlanningNodes
 *                                                     PlanLocalSorts, PlanFullOuterJoins, MarkRepartitioned
 *                                                                                                      CheckWhileReading
 * }}}
 */
class ColocateExtensions extends (SparkSessionExtensions => Unit) {

  override def apply(extensions: SparkSessionExtensions): Unit = {
    SparkVersion.check()
    SelfCheck.atStart()

    // before the first session reads its settings
    SettingEntries.register()

    // the driver may have got jars that its executors have not
    ExecutorJars.complete()

    // EXPLAIN: the section that tells why, without a setting of the user's
    ExplainProvider.register()
    ExtensionOrder.putFirst(extensions)(inject(extensions))
  }

  private def inject(extensions: SparkSessionExtensions): Unit = {

    // text that Spark can't parse: SHOW PROC; and HideBucketColumn for analyzers that leave out hint rules: HintHook
    extensions.injectParser((s, spark) => new ColocateParser(s.asInstanceOf[SparkSession], spark))

    // before relations are resolved: a read of a bucketed Delta table shows the user's columns
    extensions.injectHintResolutionRule(s => HideBucketColumn(s.asInstanceOf[SparkSession]))

    // where hiding does not act, no bucketed table is read or written
    extensions.injectResolutionRule(s => CheckHiding(s.asInstanceOf[SparkSession]))

    // resolution: DESCRIBE and SHOW tell what CREATE said
    extensions.injectResolutionRule(s => ShowAsDeclared(s.asInstanceOf[SparkSession]))

    // DDL on native tables goes through the control plane, writes to them keep one file per bucket
    extensions.injectResolutionRule(s => RefuseHiveMembers(s.asInstanceOf[SparkSession]))
    extensions.injectPostHocResolutionRule(s => WrapNativeDdl(s.asInstanceOf[SparkSession]))
    extensions.injectPostHocResolutionRule(_ => KeepNativeLayout)

    // writes to bucketed Delta tables, while and after they are matched to their table; Delta's rules run in between
    extensions.injectResolutionRule(s => CarryWriterOptions(s.asInstanceOf[SparkSession]))
    extensions.injectResolutionRule(s => CheckBucketKeys(s.asInstanceOf[SparkSession]))
    extensions.injectResolutionRule(s => FillBucketColumn(s.asInstanceOf[SparkSession]))
    extensions.injectResolutionRule(_ => UnaliasWriteTargets)
    extensions.injectResolutionRule(s => ExpandMergeStars(s.asInstanceOf[SparkSession]))
    extensions.injectPostHocResolutionRule(s => LayOutPathWrites(s.asInstanceOf[SparkSession]))
    extensions.injectPostHocResolutionRule(s => LayOutWrites(s.asInstanceOf[SparkSession]))
    extensions.injectQueryStageOptimizerRule(s => SplitLargeBuckets(s.asInstanceOf[SparkSession]))

    // after resolution: a MERGE's source is a plain plan before Delta judges it
    extensions.injectPostHocResolutionRule(_ => PlainMergeSource)

    // between analysis and cache look-up
    extensions.injectPlanNormalizationRule(_ => FinishVisibleColumns)

    // every analysed plan, those that commands write from too
    extensions.injectCheckRule(s => RefuseUnknownSettings(s))
    extensions.injectCheckRule(_ => WaitForManifests)
    extensions.injectCheckRule(_ => RefuseLossyWrites)
    extensions.injectCheckRule(s => RefuseShadowedHash(s.asInstanceOf[SparkSession]))

    // planning: the scan of a member becomes a scan by buckets; the input of a bucketed write gets its layout
    extensions.injectPlannerStrategy(s => PlanColocatedScans(s.asInstanceOf[SparkSession]))
    extensions.injectPlannerStrategy(_ => PlanBucketedWrite)
    extensions.injectPlannerStrategy(s => JoinFileListLocally(s.asInstanceOf[SparkSession]))
    extensions.injectPlannerStrategy(s => PlanExpands(s.asInstanceOf[SparkSession]))
    extensions.injectPlannerStrategy(s => PlanLocalSorts(s.asInstanceOf[SparkSession]))
    extensions.injectPlannerStrategy(_ => MarkRepartitioned)
    extensions.injectPlannerStrategy(s => PlanFullOuterJoins(s.asInstanceOf[SparkSession]))

    // last of all: operators of our own in the place of Spark's. Spark runs these hooks backwards after its transitions
    PostColumnarRules.inOrder.reverse.foreach(rule => extensions.injectColumnar(_ => rule))

    // after EnsureRequirements: what only the whole plan can tell
    extensions.injectQueryStagePrepRule(s => OptimizeColocatedPlan(s.asInstanceOf[SparkSession]))
    extensions.injectColumnar(s => OptimizeWithoutAqe(s.asInstanceOf[SparkSession]))
    extensions.injectQueryStagePrepRule(_ => PackShuffledRows)
    extensions.injectColumnar(_ => PackWithoutAqe)
    extensions.injectQueryStagePrepRule(_ => BufferShuffledRows)
    extensions.injectColumnar(_ => BufferWithoutAqe)

    // when a stage's broadcasts are finished: the buckets of their keys
    extensions.injectQueryStageOptimizerRule(_ => DynamicBucketPruning)
  }
}
