package org.apache.spark.sql.colocate.compat.delta

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.delta.actions.{Action, AddFile}
import org.apache.spark.sql.delta.{DeltaOperations, OptimisticTransaction, RowCommitVersion, RowId}
import org.apache.spark.sql.types.Metadata

/** Files that are written anew in a transaction of our own, as OPTIMIZE does it. */
private[colocate] object FileRewrites {

  /** All files of the table. */
  def files(open: OpenTransaction): Seq[TableFile] = open.transaction.filterFiles().map(new TableFile(_))

  /** The rows of some files, as a command of Delta's reads them. */
  def read(open: OpenTransaction, files: Seq[TableFile]): DataFrame =
    open.transaction.deltaLog.createDataFrame(open.transaction.snapshot, files.map(_.action))

  /** Runs a block whose plans Delta takes for this transaction's own. */
  def active[A](open: OpenTransaction)(block: => A): A = OptimisticTransaction.withActive(open.transaction)(block)

  /** Writes files that are not part of the table before `replace`. */
  def write(open: OpenTransaction, rows: DataFrame): Seq[TableFile] =
    open.transaction.writeFiles(rows).collect { case file: AddFile => new TableFile(file) }

  /** Commits new files in the place of old ones that had the same rows. */
  def replace(
      open: OpenTransaction, removed: Seq[TableFile], added: Seq[TableFile], tags: Map[String, String]): Unit = {
    val now = System.currentTimeMillis()
    val gone = removed.map(_.action.removeWithTimestamp(now, dataChange = false))
    val moved = added.map(file => file.action.copy(dataChange = false, tags = file.tags ++ tags))
    open.transaction.commit((gone: Seq[Action]) ++ moved, DeltaOperations.ManualUpdate)
  }

  /** By this, Delta's writers know the column that keeps the numbers of rows that move to another file. */
  def rowIdMetadata(column: String): Metadata = RowId.columnMetadata(column, shouldSetIcebergReservedFieldId = false)

  /** The same for the column that keeps the version of the table in which a row was last written. */
  def rowVersionMetadata(column: String): Metadata =
    RowCommitVersion.columnMetadata(column, shouldSetIcebergReservedFieldId = false)
}
