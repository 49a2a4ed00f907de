package org.apache.spark.sql.execution.colocate.merge

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.vectorized.ColumnarBatch

/**
 * A file that is sorted, while it is read. Fails if the rows are not in the order that the file's tag promises:
 * rows of one key would then count as several.
 *
 * @param batches of the file's rows; a batch is no longer used when the next one is asked for
 * @param copy    of a row; one for all files, since it is made of generated code
 */
private[merge] class SortedFile(
    batches: Iterator[ColumnarBatch], copy: UnsafeProjection, order: KeyOrder, table: String)
    extends SortedRun {

  var row: BatchRow = _
  var prefix: Long = 0

  var isDone: Boolean = false

  private var rowsLeft = 0
  private var before: BatchRow = _

  def advance(): Unit =
    if (rowsLeft > 1) {
      rowsLeft -= 1
      before.at = row.at
      row.at += 1
      moved(before)
    } else {
      val last = if (row == null) null else copy(row).copy() // the next batch may be in the same memory
      nextBatch()
      if (!isDone) moved(last)
    }

  /** @param from null for the file's first row */
  private def moved(from: InternalRow): Unit = {
    val now = order.prefixOf(row)
    if (from != null && order.compare(now, row, prefix, from) < 0) throw ofAnotherOrder
    prefix = now
  }

  private def nextBatch(): Unit = {
    rowsLeft = 0
    while (rowsLeft == 0 && batches.hasNext) {
      val batch = batches.next()
      rowsLeft = batch.numRows()
      if (rowsLeft > 0) {
        row = new BatchRow(batch)
        before = new BatchRow(batch)
      }
    }
    isDone = rowsLeft == 0
  }

  private def ofAnotherOrder: ColocateException = new ColocateException(
    "FILE_NOT_SORTED",
    s"Cannot read $table: one of its files is marked as sorted by its key columns, and is not. Nothing is lost. " +
      "SET spark.colocate.rules.excluded = 'MergeSortedFiles' reads the table without that order; then CALL " +
      "system.compact writes the files anew.")
}
