package org.apache.spark.sql.colocate.layout

import java.util.{Collections, LinkedHashMap, Map => JMap}

import org.apache.spark.sql.execution.datasources.FileIndex
import org.apache.spark.sql.functions.{col, expr}

/**
 * Rows of the largest bucket of a pinned snapshot, from the `numRecords` of its AddFile actions. File bytes would not
 * do: they are compressed, and a hot key compresses best. One small job over Delta's cached state per table version.
 */
object DeltaRowCounts {

  private val Capacity = 1000

  private val largest: JMap[(String, Long), Option[Long]] =
    Collections.synchronizedMap(new LinkedHashMap[(String, Long), Option[Long]](16, 0.75f, true) {
      override def removeEldestEntry(eldest: JMap.Entry[(String, Long), Option[Long]]): Boolean = size() > Capacity
    })

  /** None where a file has no statistics. A table whose rows together stay below `enough` is not looked at closer. */
  def largestBucket(preparedIndex: FileIndex, enough: Long): Option[Long] =
    DeltaReflection.scannedRows(preparedIndex).filter(_ <= enough).orElse {
      val snapshot = DeltaReflection.snapshotOf(preparedIndex)
      val key = (snapshot.tableId, snapshot.version)
      Option(largest.get(key)).getOrElse {
        val counted = count(snapshot)
        largest.put(key, counted)
        counted
      }
    }

  private def count(snapshot: DeltaSnapshot): Option[Long] = {
    val bucket = snapshot.partitionSchema(BucketColumn.Name)
    val physical =
      if (bucket.metadata.contains("delta.columnMapping.physicalName")) {
        bucket.metadata.getString("delta.columnMapping.physicalName")
      } else bucket.name
    val row = snapshot.allFiles
      .select(
        col("partitionValues").getItem(physical).as("bucket"),
        expr("get_json_object(stats, '$.numRecords')").cast("bigint").as("rows"))
      .groupBy("bucket")
      .agg(expr("sum(rows)").as("rows"), expr("count_if(rows is null)").as("unknown"))
      .agg(expr("max(rows)"), expr("sum(unknown)"), expr("count(*)"))
      .head()
    if (row.getLong(2) == 0) Some(0L) else Option.when(row.getLong(1) == 0)(row.getLong(0))
  }
}
