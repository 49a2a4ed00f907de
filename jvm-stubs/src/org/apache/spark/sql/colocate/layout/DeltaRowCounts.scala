package org.apache.spark.sql.colocate.layout

import java.util.{Collections, LinkedHashMap, Map => JMap}

import org.apache.spark.sql.execution.datasources.FileIndex
import org.apache.spark.sql.functions.{col, expr}

/**
 * Rows of each bucket of a pinned snapshot, from the `numRecords` of its AddFile actions. File bytes would not
 * do: they are compressed, and a hot key compresses best. One job of a single stage over Delta's cached
 * state per table version.
 */
object DeltaRowCounts {

  private val Capacity = 1000

  private type Counts = Option[Map[String, Long]]

  private val counts: JMap[(String, Long), Counts] =
    Collections.synchronizedMap(new LinkedHashMap[(String, Long), Counts](16, 0.75f, true) {
      override def removeEldestEntry(eldest: JMap.Entry[(String, Long), Counts]): Boolean = size() > Capacity
    })

  /** None where a file has no statistics: Delta's own count of scanned rows would not do, it takes such a file for -1. */
  def byBucket(pinnedIndex: FileIndex): Option[Int => Long] = {
    val found =
      if (DeltaReflection.isPrepared(pinnedIndex)) inSnapshot(pinnedIndex)
      else inTransaction(pinnedIndex).orElse(inSnapshot(pinnedIndex))
    found.map(rows => bucket => rows.getOrElse(bucket.toString, 0L))
  }

  /** A command's files are at hand; it keeps their statistics where it needs them itself. */
  private def inTransaction(batchIndex: FileIndex): Counts = {
    val files = DeltaReflection.filesOf(batchIndex)
    val bucket = DeltaReflection.snapshotOf(batchIndex).physicalName(BucketColumn.Name)
    Option.when(files.forall(_.rows.isDefined)) {
      files.groupMapReduce(file => file.partitionValues.getOrElse(bucket, ""))(_.rows.get)(_ + _)
    }
  }

  private def inSnapshot(pinnedIndex: FileIndex): Counts = {
    val snapshot = DeltaReflection.snapshotOf(pinnedIndex)
    val key = (snapshot.tableId, snapshot.version)
    Option(counts.get(key)).getOrElse {
      val counted = count(snapshot)
      counts.put(key, counted)
      counted
    }
  }

  private def count(snapshot: DeltaSnapshot): Counts = {
    val files = snapshot.allFiles
      .select(
        col("partitionValues").getItem(snapshot.physicalName(BucketColumn.Name)),
        expr("get_json_object(stats, '$.numRecords')").cast("bigint"))
      .collect()
    Option.when(!files.exists(_.isNullAt(1))) {
      files.groupMapReduce(_.getString(0))(_.getLong(1))(_ + _)
    }
  }
}
