package org.apache.spark.sql.colocate.evidence.delta

import org.apache.spark.sql.colocate.compat.delta.DeltaSnapshot
import org.apache.spark.sql.colocate.layout.{BucketColumn, Recent, RowCount}
import org.apache.spark.sql.execution.datasources.FileIndex
import org.apache.spark.sql.functions.{col, get_json_object}

/**
 * The rows of each bucket of a pinned snapshot, from the `numRecords` of its AddFile actions. The bytes of the files
 * would not do: they are compressed, and a frequent key compresses best. It takes one job of a single stage over
 * Delta's cached state for each table version.
 */
object DeltaRowCounts {

  private type Counts = Option[Map[String, RowCount]]

  private val counts = new Recent[(String, Long), Counts]

  /**
   * None if a file has no statistics. Delta's own count of scanned rows would not do: it counts such a file as -1.
   *
   * @param buckets the number of buckets by which the table is read; a divisor of that of each range partition
   */
  def byBucket(pinnedIndex: FileIndex, buckets: Int): Option[Int => RowCount] = {
    val found =
      if (DeltaIndexes.isPrepared(pinnedIndex)) inSnapshot(pinnedIndex)
      else inTransaction(pinnedIndex).orElse(inSnapshot(pinnedIndex))
    found.map { byId =>
      lazy val read = byId.toSeq.flatMap { case (id, rows) => Option(id).flatMap(_.toIntOption).map(_ -> rows) }
        .groupMapReduce(_._1 % buckets)(_._2)(_ + _)
      bucket => read.getOrElse(bucket, RowCount.None)
    }
  }

  /** The files of a command are in memory, with their statistics if the command needs them itself. */
  private def inTransaction(batchIndex: FileIndex): Counts = {
    val files = DeltaIndexes.countedFilesOf(batchIndex)
    val bucket = DeltaIndexes.snapshotOf(batchIndex).physicalName(BucketColumn.Name)
    Option.when(files.forall(_.rows.isDefined)) {
      files.groupMapReduce(_.partitionValues.getOrElse(bucket, ""))(file => RowCount(file.rows.get, file.bytes))(_ + _)
    }
  }

  private def inSnapshot(pinnedIndex: FileIndex): Counts = {
    val snapshot = DeltaIndexes.snapshotOf(pinnedIndex)
    counts.getOrElse((snapshot.tableId, snapshot.version))(count(snapshot))
  }

  private def count(snapshot: DeltaSnapshot): Counts = {
    val files = DeltaIndexes.allFilesOf(snapshot)
      .select(
        col("partitionValues").getItem(snapshot.physicalName(BucketColumn.Name)),
        get_json_object(col("stats"), "$.numRecords").cast("bigint"),
        col("size"))
      .collect()
    Option.when(!files.exists(_.isNullAt(1))) {
      files.groupMapReduce(_.getString(0))(file => RowCount(file.getLong(1), file.getLong(2)))(_ + _)
    }
  }
}
