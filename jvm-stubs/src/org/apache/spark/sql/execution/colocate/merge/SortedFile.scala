package org.apache.spark.sql.execution.colocate.merge

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.vectorized.ColumnarBatch

/**
 * A file that is sorted, while it is read. Fails if the rows are not in the order that the file's tag promises:
 * rows of one key would then count as several.
 *
 * @param batches the file's rows; a batch is no longer used when the next one is asked for
 * @param copy    of a row; one for all files, since it is made of generated code
 */
private[merge] class SortedFile(
    batches: Iterator[ColumnarBatch], copy: UnsafeProjection, order: KeyOrder, table: String)
    extends SortedRun {

  var row: BatchRow = _
  var prefix: Long = 0
  var isDone: Boolean = false

  /** The prefixes of the batch's rows, computed together: faster than one by one while the merge changes files. */
  private var prefixes = Array.empty[Long]
  private var rows = 0

  def advance(): Unit =
    if (row != null && row.at + 1 < rows) {
      row.at += 1
      prefix = prefixes(row.at)
    } else nextBatch()

  private def nextBatch(): Unit = {
    val before = if (row == null) null else copy(row).copy() // the next batch may be in the same memory
    batches.find(_.numRows() > 0) match {
      case Some(batch) =>
        row = BatchRow.of(batch)
        rows = batch.numRows()
        findPrefixes(row.another)
        if (before != null) check(prefixes(0), row, prefix, before)
        prefix = prefixes(0)
      case None =>
        isDone = true
        prefix = Long.MaxValue
    }
  }

  /** Computes the prefixes of all rows of the batch. `row` is at the first one, before and after. */
  private def findPrefixes(before: BatchRow): Unit = {
    if (prefixes.length < rows) prefixes = new Array[Long](rows)
    prefixes(0) = order.prefixOf(row)
    var at = 1
    while (at < rows) {
      row.at = at
      before.at = at - 1
      prefixes(at) = order.prefixOf(row)
      check(prefixes(at), row, prefixes(at - 1), before)
      at += 1
    }
    row.at = 0
  }

  private def check(prefix: Long, row: InternalRow, prefixBefore: Long, before: InternalRow): Unit =
    if (order.compare(prefix, row, prefixBefore, before) < 0) throw ofAnotherOrder

  private def ofAnotherOrder: ColocateException = new ColocateException(
    "FILE_NOT_SORTED",
    s"Cannot read $table: one of its files is marked as sorted by its key columns, and is not. Nothing is lost. " +
      "SET spark.colocate.rules.excluded = 'MergeSortedFiles' reads the table without that order; then CALL " +
      "system.compact writes the files anew.")
}
