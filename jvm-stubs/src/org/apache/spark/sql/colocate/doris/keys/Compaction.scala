package org.apache.spark.sql.colocate.doris.keys

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.evidence.delta.{DeltaTransaction, RowTracking, SortedTags}
import org.apache.spark.sql.colocate.write.target.{FileRewrite, Rewritten}
import org.apache.spark.sql.connector.catalog.Table

/**
 * Rewrites a table with AGGREGATE KEY or UNIQUE KEY to one row for each key, in one commit. Queries give
 * the same rows before and after it. Only buckets and partitions with new files are written.
 *
 * A row keeps the number of the last row that it was made of. A load that commits meanwhile has greater numbers, so it
 * still counts as the later one.
 */
class Compaction(session: SparkSession, table: Table, model: KeyModel) {

  private val rewrite = new FileRewrite(session, table)

  def run(): Rewritten = {
    val transaction = new DeltaTransaction(table)
    val mark = SortedTags.Compacted -> UniqueFiles.newMark(transaction.schema, model)
    rewrite.run(transaction, UniqueFiles.others(transaction.files, transaction.schema, model), mark) { relation =>
      val rowIds = if (model.replaces) Some(transaction.properties(RowTracking.KeptRowIdColumn)) else None
      AggregateByKey.aggregated(relation, model, rowIds)
    }
  }
}
