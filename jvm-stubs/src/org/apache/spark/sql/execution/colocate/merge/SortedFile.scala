package org.apache.spark.sql.execution.colocate.merge

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeProjection}
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.vectorized.{ColumnarBatch, ColumnarBatchRow}

/**
 * A file that is sorted, while it is read. Fails if the rows are not in the order that the file's tag promises:
 * rows of one key would then count as several.
 *
 * @param batches of the file's rows; a batch is no longer used when the next one is asked for
 */
private[merge] class SortedFile(
    batches: Iterator[ColumnarBatch], input: Seq[Attribute], order: KeyOrder, table: String)
    extends SortedRun {

  var row: ColumnarBatchRow = _
  var prefix: Long = 0

  var isDone: Boolean = false

  private var rowsLeft = 0
  private var before: ColumnarBatchRow = _
  private lazy val copy = UnsafeProjection.create(input, input)

  def advance(): Unit =
    if (rowsLeft > 1) {
      rowsLeft -= 1
      before.rowId = row.rowId
      row.rowId += 1
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
        val columns = (0 until batch.numCols()).map(batch.column).toArray
        row = new ColumnarBatchRow(columns)
        before = new ColumnarBatchRow(columns)
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
