package org.apache.spark.sql.colocate.compat.hooks

import Probe._
import org.apache.spark.sql.colocate.compat.delta._

/**
 * The private parts of Delta that we use. Each is an object of `compat.delta` that calls Delta's classes; what it calls
 * is read from its class file, so only what is lost without it stands here.
 */
private[colocate] object DeltaHooks {

  private val Bucketed = Some("Delta tables with a bucket column")

  val Table: Hook = Hook("delta.table-snapshot", Nil, Bucketed)(() => LinkCheck(TableSnapshots))

  val PathWrite: Hook = Hook("delta.path-write", Seq("LayOutPathWrites"), Bucketed)(() => load(DeltaClasses.Source))

  /** Without it, a stream that names partition columns fails with Delta's error, as in a session without us. */
  val Sink: Hook = Hook("delta.stream-sink", Nil)(() => LinkCheck(StreamSinks))

  val PreparedScan: Hook =
    Hook("delta.prepared-scan", Seq("PlanColocatedScans", "DynamicRangePruning"))(() => LinkCheck(PreparedScans))

  /** Without it, a query on a table with range partitions reads the files that Delta's statistics leave. */
  val NewestSnapshot: Hook = Hook("delta.newest-snapshot", Seq("PruneRanges"))(() => LinkCheck(TableIndexes))

  val Transaction: Hook = Hook(
    "delta.transaction",
    Seq("JoinFileListLocally", "DisambiguateMergeRowIds", "GroupWithinTask", "WriteWithinBuckets",
      "GatherFewRows"))(() => LinkCheck(RunningCommands))

  /** Without it, the tasks of a write into Delta tables on HDFS run anywhere. */
  val Target: Hook = Hook("delta.written-table", Seq("PlaceWrites"))(() => LinkCheck(WrittenTables))

  val Commit: Hook = Hook("delta.commit", Nil, Some("changes of range partitions")) { () =>
    LinkCheck(OpenTransactions)
    LinkCheck(RowErrors)
  }

  val Rewrite: Hook =
    Hook("delta.rewrite", Nil, Some("CALL system.compact and repair"))(() => LinkCheck(FileRewrites))

  val Adopt: Hook = Hook("delta.adopt", Nil, Some("CALL system.colocate"))(() => LinkCheck(LayoutChanges))

  /** Without it, tables with a key model are aggregated even where a compaction has left one row for each key. */
  val FileTags: Hook =
    Hook("delta.file-tags", Seq("SkipKeyAggregation", "MergeSortedFiles"))(() => LinkCheck(TaggedFiles))

  /** Without it, tables with a key model are read with a hash table of their keys until they are compacted. */
  val Load: Hook = Hook("delta.load", Seq("TagSortedLoads"))(() => LinkCheck(TaggedLoads))

  val MergeNode: Hook = Hook("delta.merge-node", Seq("PlainMergeSource"))(() => load(DeltaClasses.Merge))

  /** Without it, Delta computes the hidden columns of MERGE and UPDATE, and refuses some values in its own words. */
  val Clauses: Hook =
    Hook("delta.change-clauses", Seq("HiddenColumnsOfMerge", "CheckRangesInUpdates"), Some("MERGE by Delta's command"))(
      () => LinkCheck(ChangeClauses))

  val Commands: Hook = Hook(
    "delta.commands",
    Nil,
    Some("CREATE TABLE LIKE, CLONE, RESTORE, CONVERT TO DELTA and DROP FEATURE"))(() => LinkCheck(CommandParts))

  /** Without it, an overwrite that lacks a partition column is refused by this hook's name. */
  val Columns: Hook = Hook("delta.column-errors", Nil)(() => LinkCheck(ColumnErrors))

  val all: Seq[Hook] = Seq(
    Table, PathWrite, Sink, PreparedScan, NewestSnapshot, Transaction, Target, Commit, Rewrite, Adopt, FileTags,
    Load, MergeNode, Clauses, Commands, Columns)
}
