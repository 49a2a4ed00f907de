package org.apache.spark.sql.colocate.doris

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.doris.keys._
import org.apache.spark.sql.colocate.doris.procedures._
import org.apache.spark.sql.colocate.doris.ranges.{DropStaleRangeFilters, DynamicRangePruning, PruneRanges}
import org.apache.spark.sql.colocate.parts.{Part, PartRules}
import org.apache.spark.sql.colocate.system.SystemProcedure
import org.apache.spark.sql.execution.SparkPlan

/** Doris' key models and range partitions. Its statements are [[parser.DorisTexts]]. */
class DorisPart extends Part {

  override def rules: PartRules = PartRules(
    resolution = Seq("RewriteUpdates" -> (_ => RewriteUpdates)),
    postHoc = Seq("RefuseValueFilters" -> (RefuseValueFilters(_))),
    normalization = Seq("AggregateByKey" -> (_ => AggregateByKey)),
    check = Seq("RefuseStreams" -> (RefuseStreams(_))),
    optimizer = Seq("PruneRanges" -> (PruneRanges(_)), "CollapseKeyAggregation" -> (_ => CollapseKeyAggregation)),
    strategy = Seq(
      "DropStaleRangeFilters" -> (_ => DropStaleRangeFilters), "SkipKeyAggregation" -> (SkipKeyAggregation(_))),
    stage = Seq("DynamicRangePruning" -> (DynamicRangePruning(_))),
    columnar = Seq("MergeSortedFiles" -> MergeSortedFiles))

  override def pruningWithoutAqe: Option[SparkSession => Rule[SparkPlan]] =
    Some(session => DynamicRangePruning(session).withBuckets)

  override def procedures: Seq[SystemProcedure] =
    Seq(AddPartition, AddPartitions, DropPartition, TruncatePartition, ShowPartitions, ShowData, Compact)
}
