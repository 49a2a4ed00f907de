package org.apache.spark.sql.colocate.phases

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.{SparkSession, Strategy}
import org.apache.spark.sql.colocate.catalog.describe.ShowAsDeclared
import org.apache.spark.sql.colocate.catalog.{CheckCreate, WrapNativeDdl}
import org.apache.spark.sql.colocate.columns.{
  CheckErrors, CheckHiding, ExpandMergeStars,
  FinishVisibleColumns, HideBucketColumn, ResolutionErrors, UnaliasWriteTargets
}
import org.apache.spark.sql.colocate.conf.{RefuseUnknownSettings, RuleEntry}
import org.apache.spark.sql.colocate.doris.keys.{
  AggregateByKey, CollapseKeyAggregation, MergeSortedFiles,
  RefuseStreams, RefuseValueFilters, RewriteUpdates, SkipKeyAggregation
}
import org.apache.spark.sql.colocate.doris.ranges.{DropStaleRangeFilters, DynamicRangePruning, PruneRanges}
import org.apache.spark.sql.colocate.evidence.manifest.WaitForManifests
import org.apache.spark.sql.colocate.ops.hosts.PlaceWrites
import org.apache.spark.sql.colocate.ops.jobs.FinishRewrites
import org.apache.spark.sql.colocate.rules.aggregate.{
  AggregateRuns, AggregateTextsByHash, MergeAdjacentAggregates, PlanExpands, ShareAggregates, ShuffleUnevenAggregates
}
import org.apache.spark.sql.colocate.rules.join.{
  AlignJoinSides, DropExchangeOnNullExtendedKeys, FuseHashJoins, HashWithinBuckets, PlanFullOuterJoins, SpreadJoins
}
import org.apache.spark.sql.colocate.rules.scan.{
  CheckWhileReading, DisableUnnecessaryColocatedScan, DynamicBucketPruning, PlanColocatedScans, ReadSmallBucketsTogether
}
import org.apache.spark.sql.colocate.rules.semantics._
import org.apache.spark.sql.colocate.rules.shuffle.{BufferShuffledRows, PackShuffledRows}
import org.apache.spark.sql.colocate.rules.sort.{PlanLocalSorts, ReadOnceForSort}
import org.apache.spark.sql.colocate.rules.{ColumnarRules, DropPlanningNodes, RuleTable}
import org.apache.spark.sql.colocate.write.merge._
import org.apache.spark.sql.colocate.write.target.{PlanBucketedWrite, TagSortedLoads}
import org.apache.spark.sql.colocate.write.{
  CarryWriterOptions, CheckComputedBuckets, CheckRangesInUpdates, ExplainChangeErrors, FillBucketColumn,
  HiddenColumnsOfMerge, KeepNativeLayout, LayOutPathWrites, LayOutWrites, ResolveNamedPartitions, SplitLargeBuckets
}
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}

/** The code of each rule that conf/rules.json names. That file also gives the order of the rules in a phase. */
object Rules {

  type Made[R] = SparkSession => R
  private type OfPlans = Made[Rule[LogicalPlan]]

  val hint: Seq[OfPlans] = made[OfPlans]("hint", "HideBucketColumn" -> (HideBucketColumn(_)))

  val resolution: Seq[OfPlans] = made[OfPlans](
    "resolution",
    "CheckHiding" -> (CheckHiding(_)),
    "ShowAsDeclared" -> (ShowAsDeclared(_)),
    "CarryWriterOptions" -> (CarryWriterOptions(_)),
    "CheckCreate" -> (CheckCreate(_)),
    "ResolveNamedPartitions" -> (ResolveNamedPartitions(_)),
    "FillBucketColumn" -> (FillBucketColumn(_)),
    "RewriteUpdates" -> (_ => RewriteUpdates),
    "UnaliasWriteTargets" -> (_ => UnaliasWriteTargets),
    "ExpandMergeStars" -> (ExpandMergeStars(_)),
    "ResolutionErrors" -> (ResolutionErrors(_)))

  val postHoc: Seq[OfPlans] = made[OfPlans](
    "post-hoc",
    "WrapNativeDdl" -> (WrapNativeDdl(_)),
    "KeepNativeLayout" -> (_ => KeepNativeLayout),
    "RefuseValueFilters" -> (RefuseValueFilters(_)),
    "LayOutPathWrites" -> (LayOutPathWrites(_)),
    "LayOutWrites" -> (LayOutWrites(_)),
    "PlainMergeSource" -> (_ => PlainMergeSource),
    "CheckErrors" -> (CheckErrors(_)),
    "CheckRangesInUpdates" -> (CheckRangesInUpdates(_)))

  val normalization: Seq[OfPlans] =
    made[OfPlans](
      "normalization",
      "HiddenColumnsOfMerge" -> (HiddenColumnsOfMerge(_)),
      "FinishVisibleColumns" -> (_ => FinishVisibleColumns),
      "AggregateByKey" -> (_ => AggregateByKey))

  val check: Seq[Made[LogicalPlan => Unit]] = made[Made[LogicalPlan => Unit]](
    "check",
    "RefuseUnknownSettings" -> (RefuseUnknownSettings(_)),
    "RefuseStreams" -> (RefuseStreams(_)),
    "WaitForManifests" -> (_ => WaitForManifests),
    "FinishRewrites" -> (FinishRewrites(_)),
    "CheckComputedBuckets" -> (CheckComputedBuckets(_)))

  val optimizer: Seq[OfPlans] = made[OfPlans](
    "optimizer",
    "PruneRanges" -> (PruneRanges(_)),
    "CollapseKeyAggregation" -> (_ => CollapseKeyAggregation))

  val strategy: Seq[Made[Strategy]] = made[Made[Strategy]](
    "strategy",
    "DropStaleRangeFilters" -> (_ => DropStaleRangeFilters),
    "SkipKeyAggregation" -> (SkipKeyAggregation(_)),
    "PlanColocatedScans" -> (PlanColocatedScans(_)),
    "PlanBucketedWrite" -> (_ => PlanBucketedWrite),
    "ExplainChangeErrors" -> (_ => ExplainChangeErrors),
    "TagSortedLoads" -> (TagSortedLoads(_)),
    "JoinFileListLocally" -> (JoinFileListLocally(_)),
    "PlanExpands" -> (PlanExpands(_)),
    "PlanLocalSorts" -> (PlanLocalSorts(_)),
    "MarkRepartitioned" -> (_ => MarkRepartitioned),
    "PlanFullOuterJoins" -> (PlanFullOuterJoins(_)))

  /** For OptimizeColocatedPlan, which runs them one after the other, each through Rewrite. */
  def preparation(session: SparkSession): Seq[(RuleEntry, Rule[SparkPlan])] = RuleTable.inOrder[Rule[SparkPlan]](
    "preparation",
    "KeepTaskDependentValues" -> KeepTaskDependentValues,
    "DisambiguateMergeRowIds" -> DisambiguateMergeRowIds,
    "AlignJoinSides" -> ReplanAncestors(AlignJoinSides(session)),
    "DropExchangeOnNullExtendedKeys" -> ReplanAncestors(DropExchangeOnNullExtendedKeys),
    "GroupWithinTask" -> GroupWithinTask,
    "WriteWithinBuckets" -> WriteWithinBuckets,
    "DisableUnnecessaryColocatedScan" -> DisableUnnecessaryColocatedScan,
    "ShuffleUnevenAggregates" -> ShuffleUnevenAggregates(session),
    "ReadSmallBucketsTogether" -> ReadSmallBucketsTogether(session),
    "HashWithinBuckets" -> HashWithinBuckets(session),
    "MergeAdjacentAggregates" -> MergeAdjacentAggregates,
    "SpreadJoins" -> SpreadJoins(session),
    "GatherFewRows" -> GatherFewRows,
    "ShareAggregates" -> ShareAggregates,
    "ReadOnceForSort" -> ReadOnceForSort,
    "ZipUnions" -> ZipUnions,
    "PlaceWrites" -> PlaceWrites,
    "PackShuffledRows" -> PackShuffledRows,
    "BufferShuffledRows" -> BufferShuffledRows)

  /** For a query stage of adaptive execution that is about to run; the stages below it have ended. */
  val stage: Seq[Made[Rule[SparkPlan]]] = made[Made[Rule[SparkPlan]]](
    "stage",
    "SplitLargeBuckets" -> (SplitLargeBuckets(_)),
    "DynamicBucketPruning" -> (_ => DynamicBucketPruning),
    "DynamicRangePruning" -> (DynamicRangePruning(_)))

  /** The last rules on every plan, after Spark has inserted the columnar transitions. */
  val columnar: Seq[ColumnarRule] = ColumnarRules.keep(made[ColumnarRule](
    "columnar",
    "MergeSortedFiles" -> MergeSortedFiles,
    "AggregateTextsByHash" -> AggregateTextsByHash,
    "DropPlanningNodes" -> DropPlanningNodes,
    "AggregateRuns" -> AggregateRuns,
    "FuseHashJoins" -> FuseHashJoins,
    "CheckWhileReading" -> CheckWhileReading))

  private def made[A](phase: String, rules: (String, A)*): Seq[A] = RuleTable.inOrder(phase, rules: _*).map(_._2)
}
