package org.apache.spark.sql.colocate.write.target

import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.classic.{DataFrame, Dataset, SparkSession}
import org.apache.spark.sql.colocate.compat.delta.TableFile
import org.apache.spark.sql.colocate.compat.hooks.{DeltaHooks, SelfCheck}
import org.apache.spark.sql.colocate.declared.RowModels
import org.apache.spark.sql.colocate.evidence.delta.{DeltaTables, DeltaTransaction}
import org.apache.spark.sql.colocate.layout.HiddenColumns
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

/** How many files were taken out of a table, and how many took their place. */
case class Rewritten(removed: Int, added: Int)

/**
 * Writes files of a Delta table anew, by bucket, in one commit that changes no row, as OPTIMIZE makes one. If another
 * commit has changed these files meanwhile, Delta refuses it.
 */
class FileRewrite(session: SparkSession, table: Table) {

  SelfCheck.require(table.name, DeltaHooks.Rewrite)

  /**
   * @param tags of the new files
   * @param rows what is written, from the relation of the old files; hidden columns of its output are computed anew
   */
  def run(transaction: DeltaTransaction, old: Seq[TableFile], tags: (String, String)*)(
      rows: LogicalRelation => LogicalPlan): Rewritten =
    if (old.isEmpty) Rewritten(0, 0)
    else {
      val read = transaction.read(old).asInstanceOf[DataFrame].queryExecution.analyzed
      val written = rows(read.collectFirst { case relation: LogicalRelation => relation }.get)
      val shown = Project(written.output.filterNot(c => HiddenColumns.contains(c.name)), written)
      val order = BucketedTarget.of(session, DataSourceV2Relation.create(table, None, None))
        .fold(FileOrder.AsTheyCome)(_.orderOf(shown.output))
      val added = transaction.active(transaction.write(Dataset.ofRows(session, byBucket(shown, order))))
      transaction.replace(old, added, tags ++ RowModels().of(table).filter(_ => order.isByAllKeys).map(_.sortedTag): _*)
      Rewritten(old.size, added.size)
    }

  private def byBucket(rows: LogicalPlan, order: FileOrder): LogicalPlan =
    DeltaTables.layoutOf(session, table).fold(rows) { layout =>
      val keys = layout.keys.flatMap(key => rows.output.find(_.name == key))
      BucketedWrite.over(rows, keys, layout, order)
    }
}
