package org.apache.spark.sql.colocate.phases

import org.apache.spark.sql.colocate.catalog.describe.ShowAsDeclared
import org.apache.spark.sql.colocate.catalog.{CheckCreate, WrapNativeDdl}
import org.apache.spark.sql.colocate.columns.{
  CheckErrors, CheckHiding, ExpandMergeStars,
  FinishVisibleColumns, HideBucketColumn, ResolutionErrors, UnaliasWriteTargets
}
import org.apache.spark.sql.colocate.conf.RefuseUnknownSettings
import org.apache.spark.sql.colocate.evidence.manifest.WaitForManifests
import org.apache.spark.sql.colocate.parts.PartRules
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
import org.apache.spark.sql.colocate.rules.DropPlanningNodes
import org.apache.spark.sql.colocate.write.merge._
import org.apache.spark.sql.colocate.write.target.{PlanBucketedWrite, TagSortedLoads}
import org.apache.spark.sql.colocate.write.{
  CarryWriterOptions, CheckComputedBuckets, CheckRangesInUpdates, ExplainChangeErrors, FillBucketColumn,
  HiddenColumnsOfMerge, KeepNativeLayout, LayOutPathWrites, LayOutWrites, ResolveNamedPartitions, SplitLargeBuckets
}

/** The rules of the core. Those of the parts are in `doris/DorisPart` and `ops/OpsPart`. */
private[phases] object CoreRules {

  val all: PartRules = PartRules(
    hint = Seq("HideBucketColumn" -> (HideBucketColumn(_))),
    resolution = Seq(
      "CheckHiding" -> (CheckHiding(_)),
      "ShowAsDeclared" -> (ShowAsDeclared(_)),
      "CarryWriterOptions" -> (CarryWriterOptions(_)),
      "CheckCreate" -> (CheckCreate(_)),
      "ResolveNamedPartitions" -> (ResolveNamedPartitions(_)),
      "FillBucketColumn" -> (FillBucketColumn(_)),
      "UnaliasWriteTargets" -> (_ => UnaliasWriteTargets),
      "ExpandMergeStars" -> (ExpandMergeStars(_)),
      "ResolutionErrors" -> (ResolutionErrors(_))),
    postHoc = Seq(
      "WrapNativeDdl" -> (WrapNativeDdl(_)),
      "KeepNativeLayout" -> (_ => KeepNativeLayout),
      "LayOutPathWrites" -> (LayOutPathWrites(_)),
      "LayOutWrites" -> (LayOutWrites(_)),
      "PlainMergeSource" -> (_ => PlainMergeSource),
      "CheckErrors" -> (CheckErrors(_)),
      "CheckRangesInUpdates" -> (CheckRangesInUpdates(_))),
    normalization = Seq(
      "HiddenColumnsOfMerge" -> (HiddenColumnsOfMerge(_)),
      "FinishVisibleColumns" -> (_ => FinishVisibleColumns)),
    check = Seq(
      "RefuseUnknownSettings" -> (RefuseUnknownSettings(_)),
      "WaitForManifests" -> (_ => WaitForManifests),
      "CheckComputedBuckets" -> (CheckComputedBuckets(_))),
    strategy = Seq(
      "PlanColocatedScans" -> (PlanColocatedScans(_)),
      "PlanBucketedWrite" -> (_ => PlanBucketedWrite),
      "ExplainChangeErrors" -> (_ => ExplainChangeErrors),
      "TagSortedLoads" -> (TagSortedLoads(_)),
      "JoinFileListLocally" -> (JoinFileListLocally(_)),
      "PlanExpands" -> (PlanExpands(_)),
      "PlanLocalSorts" -> (PlanLocalSorts(_)),
      "MarkRepartitioned" -> (_ => MarkRepartitioned),
      "PlanFullOuterJoins" -> (PlanFullOuterJoins(_))),
    preparation = Seq(
      "KeepTaskDependentValues" -> (_ => KeepTaskDependentValues),
      "DisambiguateMergeRowIds" -> (_ => DisambiguateMergeRowIds),
      "AlignJoinSides" -> (session => ReplanAncestors(AlignJoinSides(session))),
      "DropExchangeOnNullExtendedKeys" -> (_ => ReplanAncestors(DropExchangeOnNullExtendedKeys)),
      "GroupWithinTask" -> (_ => GroupWithinTask),
      "WriteWithinBuckets" -> (_ => WriteWithinBuckets),
      "DisableUnnecessaryColocatedScan" -> (_ => DisableUnnecessaryColocatedScan),
      "ShuffleUnevenAggregates" -> (ShuffleUnevenAggregates(_)),
      "ReadSmallBucketsTogether" -> (ReadSmallBucketsTogether(_)),
      "HashWithinBuckets" -> (HashWithinBuckets(_)),
      "MergeAdjacentAggregates" -> (_ => MergeAdjacentAggregates),
      "SpreadJoins" -> (SpreadJoins(_)),
      "GatherFewRows" -> (_ => GatherFewRows),
      "ShareAggregates" -> (_ => ShareAggregates),
      "ReadOnceForSort" -> (_ => ReadOnceForSort),
      "ZipUnions" -> (_ => ZipUnions),
      "PackShuffledRows" -> (_ => PackShuffledRows),
      "BufferShuffledRows" -> (_ => BufferShuffledRows)),
    stage = Seq(
      "SplitLargeBuckets" -> (SplitLargeBuckets(_)),
      "DynamicBucketPruning" -> (_ => DynamicBucketPruning)),
    columnar = Seq(
      "AggregateTextsByHash" -> AggregateTextsByHash,
      "DropPlanningNodes" -> DropPlanningNodes,
      "AggregateRuns" -> AggregateRuns,
      "FuseHashJoins" -> FuseHashJoins,
      "CheckWhileReading" -> CheckWhileReading))
}
