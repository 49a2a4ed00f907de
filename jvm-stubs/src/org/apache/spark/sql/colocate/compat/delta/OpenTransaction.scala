package org.apache.spark.sql.colocate.compat.delta

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.delta.catalog.DeltaTableV2
import org.apache.spark.sql.delta.{DeltaOperations, OptimisticTransaction}
import org.apache.spark.sql.types.StructType

/** A transaction of our own on a Delta table, which has started at the table's newest version. */
final class OpenTransaction private[delta] (private[delta] val transaction: OptimisticTransaction) {

  val schema: StructType = transaction.metadata.schema

  val properties: Map[String, String] = transaction.metadata.configuration

  /** The table's files that this condition on partition columns is true for. */
  def files(condition: Expression): Seq[TableFile] =
    transaction.filterFiles(Seq(condition), keepNumRecords = false).map(new TableFile(_))

  /** Changes schema and properties with what is committed next; before anything is written. */
  def change(schema: StructType, properties: Map[String, String]): Unit =
    transaction.updateMetadata(
      transaction.metadata.copy(schemaString = schema.json, configuration = properties),
      ignoreDefaultProperties = false)

  def commitRemoval(removed: Seq[TableFile]): Unit =
    transaction.commit(removed.map(_.action.remove), DeltaOperations.ManualUpdate)
}

private[colocate] object OpenTransactions {
  def on(table: Table): OpenTransaction =
    new OpenTransaction(table.asInstanceOf[DeltaTableV2].startTransaction(None))
}
