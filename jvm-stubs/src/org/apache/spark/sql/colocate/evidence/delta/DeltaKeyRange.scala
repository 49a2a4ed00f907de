package org.apache.spark.sql.colocate.evidence.delta

import org.apache.spark.sql.colocate.compat.delta.DeltaSnapshot
import org.apache.spark.sql.colocate.layout.Recent
import org.apache.spark.sql.execution.datasources.FileIndex
import org.apache.spark.sql.functions.{col, get_json_object, max, min, sum, when}

/**
 * How many values a whole-number column can have in a pinned snapshot, from the least and the greatest in
 * the statistics of its AddFile actions; null is not counted. One job over Delta's cached state per table version.
 */
object DeltaKeyRange {

  private val sizes = new Recent[(String, Long, String), Option[Double]]

  /** None if a file has no least and greatest value in its statistics, but rows that may have one. */
  def size(pinnedIndex: FileIndex, column: String): Option[Double] = {
    val snapshot = DeltaIndexes.snapshotOf(pinnedIndex)
    sizes.getOrElse((snapshot.tableId, snapshot.version, column))(find(snapshot, snapshot.physicalName(column)))
  }

  private def find(snapshot: DeltaSnapshot, name: String): Option[Double] = {
    def statistic(what: String) = get_json_object(col("stats"), s"$$.$what['$name']").cast("bigint")
    val row = DeltaIndexes.allFilesOf(snapshot)
      .select(statistic("minValues").as("least"), statistic("maxValues").as("most"))
      .select(min(col("least")), max(col("most")), sum(when(col("least").isNull || col("most").isNull, 1).otherwise(0)))
      .head()
    Option.when(!row.isNullAt(0) && row.getLong(2) == 0)(row.getLong(1).toDouble - row.getLong(0) + 1)
  }
}
