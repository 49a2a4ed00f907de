package org.apache.spark.sql.colocate.compat.hooks

import Probe._

/** The private parts of Delta that we use: in DeltaReflection and DeltaTables, and classes known by their names. */
private[colocate] object DeltaHooks {

  private val Delta = "org.apache.spark.sql.delta"
  private val Bucketed = Some("Delta tables with a bucket column")

  val Table: Hook = Hook("delta.table-snapshot", Nil, Bucketed) { () =>
    methods(s"$Delta.catalog.DeltaTableV2", "initialSnapshot")
    methods(s"$Delta.Snapshot", "schema")
    methods(s"$Delta.DeltaParquetFileFormat", "metadata")
  }

  val PathWrite: Hook = Hook("delta.path-write", Seq("LayOutPathWrites"), Bucketed) { () =>
    load(s"$Delta.sources.DeltaDataSource")
  }

  /** Without it, a stream that names partition columns fails with Delta's error, as in a session without us. */
  val Sink: Hook = Hook("delta.stream-sink", Nil) { () =>
    methods(s"$Delta.sources.DeltaSink", "path", "partitionColumns")
    methodsOf(s"$Delta.sources.DeltaSink", "copy" -> 6)
  }

  val PreparedScan: Hook = Hook("delta.prepared-scan", Seq("PlanColocatedScans", "DynamicRangePruning")) { () =>
    methods(s"$Delta.stats.PreparedDeltaFileIndex", "preparedScan", "path")
    methods(s"$Delta.stats.DeltaScan", "scannedSnapshot", "files")
    methods(s"$Delta.actions.AddFile", "path", "partitionValues", "size", "tags")
    methods(s"$Delta.Snapshot", "metadata", "version", "protocol", "allFiles")
    methods(s"$Delta.actions.Metadata", "schema", "partitionSchema", "configuration", "id")
    methodsOf(s"$Delta.GeneratedColumn$$", "satisfyGeneratedColumnProtocol" -> 1)
  }

  /** Without it, a query on a table with range partitions reads the files that Delta's statistics leave. */
  val NewestSnapshot: Hook = Hook("delta.newest-snapshot", Seq("PruneRanges")) { () =>
    methods(s"$Delta.files.TahoeLogFileIndex", "deltaLog", "isTimeTravelQuery", "snapshotAtAnalysis")
    methods(s"$Delta.DeltaLog", "getCapturedSnapshot")
    methods(s"$Delta.CapturedSnapshot", "snapshot")
  }

  val Transaction: Hook = Hook(
    "delta.transaction",
    Seq("JoinFileListLocally", "DisambiguateMergeRowIds", "GroupWithinTask", "WriteWithinBuckets",
      "GatherFewRows")) { () =>
    methods(s"$Delta.OptimisticTransaction$$", "getActive")
    methods(s"$Delta.OptimisticTransaction", "snapshot")
    methods(s"$Delta.files.TahoeBatchFileIndex", "snapshot", "actionType", "addFiles")
    methods(s"$Delta.actions.AddFile", "partitionValues", "numPhysicalRecords", "size")
  }

  /** Without it, the tasks of a write into Delta tables on HDFS run anywhere. */
  val Target: Hook = Hook("delta.written-table", Seq("PlaceWrites")) { () =>
    methods(s"$Delta.OptimisticTransaction$$", "getActive")
    methods(s"$Delta.OptimisticTransaction", "deltaLog", "metadata", "catalogTable")
    methods(s"$Delta.DeltaLog", "dataPath")
    methods(s"$Delta.actions.Metadata", "configuration")
    methods(s"$Delta.files.TahoeBatchFileIndex", "snapshot", "actionType", "path")
  }

  val Commit: Hook = Hook("delta.commit", Nil, Some("changes of range partitions")) { () =>
    methodsOf(s"$Delta.catalog.DeltaTableV2", "startTransaction" -> 1)
    methodsOf(s"$Delta.OptimisticTransaction", "updateMetadata" -> 2, "filterFiles" -> 2, "commit" -> 2)
    methodsOf(s"$Delta.actions.Metadata", "copy" -> 8)
    methods(s"$Delta.actions.AddFile", "remove")
    load(s"$Delta.DeltaOperations$$ManualUpdate$$")
    constructor(s"$Delta.schema.InvariantViolationException", 1)
  }

  val Rewrite: Hook = Hook("delta.rewrite", Nil, Some("CALL system.compact and repair")) { () =>
    methodsOf(s"$Delta.OptimisticTransaction", "filterFiles" -> 0, "writeFiles" -> 1)
    methods(s"$Delta.OptimisticTransaction", "deltaLog", "snapshot")
    methodsOf(s"$Delta.OptimisticTransaction$$", "withActive" -> 3)
    methodsOf(s"$Delta.DeltaLog", "createDataFrame" -> 4)
    methodsOf(s"$Delta.RowId$$", "columnMetadata" -> 2)
    methodsOf(s"$Delta.RowCommitVersion$$", "columnMetadata" -> 2)
    methodsOf(s"$Delta.actions.AddFile", "removeWithTimestamp" -> 2)
    methods(s"$Delta.actions.AddFile", "tags", "partitionValues")
  }

  /** Without it, tables with a key model are aggregated even where a compaction has left one row for each key. */
  val FileTags: Hook = Hook("delta.file-tags", Seq("SkipKeyAggregation", "MergeSortedFiles")) { () =>
    methods(s"$Delta.actions.AddFile", "tags", "partitionValues", "baseRowId")
    methods(s"$Delta.stats.DeltaScan", "filtersUsedForSkipping")
  }

  /** Without it, tables with a key model are read with a hash table of their keys until they are compacted. */
  val Load: Hook = Hook("delta.load", Seq("TagSortedLoads")) { () =>
    methods(s"$Delta.catalog.DeltaTableV2", "deltaLog", "catalogTable", "toLogicalRelation")
    methods(s"$Delta.DeltaLog", "unsafeVolatileSnapshot")
    methodsOf(s"$Delta.DeltaLog", "withNewTransaction" -> 3)
    methodsOf(s"$Delta.commands.WriteIntoDelta$$", "apply" -> 9, "apply$default$9" -> 0)
    methodsOf(
      s"$Delta.commands.WriteIntoDelta", "hasBeenExecuted" -> 3, "writeAndReturnCommitData" -> 4,
      "writeAndReturnCommitData$default$4" -> 0)
    methods(s"$Delta.commands.DMLUtils$$TaggedCommitData", "actions", "stringTags")
    methodsOf(s"$Delta.OptimisticTransaction", "commitIfNeeded" -> 3)
    methodsOf(s"$Delta.DeltaOperations$$Write$$", "apply" -> 9)
    methods(s"$Delta.DeltaOptions", "canMergeSchema", "userMetadata")
    methods(s"$Delta.ColumnWithDefaultExprUtils$$", "USE_NULL_AS_DEFAULT_DELTA_OPTION")
  }

  val MergeNode: Hook = Hook("delta.merge-node", Seq("PlainMergeSource")) { () =>
    load("org.apache.spark.sql.catalyst.plans.logical.DeltaMergeInto")
  }

  val all: Seq[Hook] = Seq(
    Table, PathWrite, Sink, PreparedScan, NewestSnapshot, Transaction, Target, Commit, Rewrite, FileTags, Load,
    MergeNode)
}
