package org.apache.spark.sql.colocate.keys

import java.util.UUID

import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.classic.{DataFrame, Dataset, SparkSession}
import org.apache.spark.sql.colocate.columns.HiddenColumns
import org.apache.spark.sql.colocate.compat.hooks.{DeltaHooks, SelfCheck}
import org.apache.spark.sql.colocate.evidence.delta.{DeltaTables, DeltaTransaction}
import org.apache.spark.sql.colocate.write.{BucketedWrite, FileOrder, WriteByPartitionsBuckets}
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.execution.datasources.LogicalRelation

/** How many files a compaction took out of the table, and how many took their place. */
case class Compacted(removed: Int, added: Int)

/**
 * Writes the rows of a table with AGGREGATE KEY or UNIQUE KEY anew, one row for each key, in one commit. Queries give
 * the same rows before and after it. Only buckets and partitions with new files are written.
 *
 * A row keeps the number of the last row that it was made of. A load that commits meanwhile has greater numbers, so it
 * still counts as the later one.
 */
class Compaction(session: SparkSession, table: Table, model: KeyModel) {

  SelfCheck.require(table.name, DeltaHooks.Rewrite)

  /** Where Delta keeps the numbers of rows that were moved to another file. */
  private val RowIdColumn = "delta.rowTracking.materializedRowIdColumnName"

  def run(): Compacted = DeltaTransaction.passingOn {
    val transaction = new DeltaTransaction(table)
    val old = UniqueFiles.others(transaction.files)
    if (old.isEmpty) Compacted(0, 0)
    else {
      val added = transaction.active(transaction.write(rows(transaction, old)))
      transaction.replace(old, added, UniqueFiles.Tag -> UUID.randomUUID().toString)
      Compacted(old.size, added.size)
    }
  }

  private def rows(transaction: DeltaTransaction, files: Seq[AnyRef]): DataFrame = {
    val read = transaction.read(files).asInstanceOf[DataFrame].queryExecution.analyzed
    val relation = read.collectFirst { case relation: LogicalRelation => relation }.get
    val rowIds = if (model.replaces) Some(transaction.properties(RowIdColumn)) else None
    val aggregated = AggregateByKey.aggregated(relation, model, rowIds)
    val shown = Project(aggregated.output.filterNot(c => HiddenColumns.contains(c.name)), aggregated)
    Dataset.ofRows(session, byBucket(shown))
  }

  private def byBucket(rows: LogicalPlan): LogicalPlan = DeltaTables.layoutOf(session, table).fold(rows) { layout =>
    val keys = layout.keys.flatMap(key => rows.output.find(_.name == key))
    if (layout.partitions.isEmpty) BucketedWrite.over(rows, keys, layout.buckets)
    else WriteByPartitionsBuckets.over(rows, keys, layout, FileOrder.AsTheyCome)
  }
}
