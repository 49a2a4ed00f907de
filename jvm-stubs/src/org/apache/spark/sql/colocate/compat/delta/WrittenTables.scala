package org.apache.spark.sql.colocate.compat.delta

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.delta.OptimisticTransaction
import org.apache.spark.sql.delta.files.TahoeBatchFileIndex
import org.apache.spark.sql.execution.datasources.FileIndex

/** A Delta table that a command writes to. entry: its entry in the catalog; None for a table that is known by path. */
case class DeltaTarget(root: Path, properties: Map[String, String], entry: Option[CatalogTable])

/** Which table a command of Delta's writes to. */
private[colocate] object WrittenTables {

  private val Compaction = "Optimize"

  def ofTransaction: Option[DeltaTarget] = OptimisticTransaction.getActive().map { transaction =>
    DeltaTarget(transaction.deltaLog.dataPath, transaction.metadata.configuration, transaction.catalogTable)
  }

  /** OPTIMIZE writes in threads of its own, so the files that it reads say it. */
  def ofCompaction(index: FileIndex): Option[DeltaTarget] = {
    val files = index.asInstanceOf[TahoeBatchFileIndex]
    Option.when(files.actionType == Compaction)(
      DeltaTarget(files.path, files.snapshot.metadata.configuration, None))
  }
}
