package org.apache.spark.sql.colocate.scan

import java.io.Closeable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.colocate.evidence.delta.DeltaIndexes
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.execution.vectorized.OnHeapColumnVector
import org.apache.spark.sql.types.{LongType, StructType}
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}

/**
 * Counts the rows of files that are read whole, where a query needs each row's number in its file, so that Parquet's
 * reader does not: it makes an object for each number, which costs more than the rest of reading a narrow row.
 *
 * @param required the columns that Parquet's reader has to give
 * @param at       where the numbers stand among the columns that the query reads
 */
private[scan] case class RowNumbers private (required: StructType, at: Int) {

  /** @param read gives all rows of a file, in batches, in the guise of rows as Spark's own readers do */
  def added(read: PartitionedFile => Iterator[InternalRow]): PartitionedFile => Iterator[InternalRow] =
    file => new Numbered(read(file)).asInstanceOf[Iterator[InternalRow]]

  private class Numbered(batches: Iterator[Any]) extends Iterator[Any] with Closeable {
    private var passed = 0L
    private var capacity = 0
    private var numbers: OnHeapColumnVector = _

    override def hasNext: Boolean = batches.hasNext

    override def next(): Any = {
      val batch = batches.next().asInstanceOf[ColumnarBatch]
      val rows = batch.numRows()
      count(rows)
      val columns = (0 until batch.numCols()).map[ColumnVector](batch.column)
      new ColumnarBatch(columns.patch(at, Seq(numbers), 0).toArray, rows)
    }

    private def count(rows: Int): Unit = {
      if (capacity < rows) {
        capacity = rows
        numbers = new OnHeapColumnVector(capacity, LongType)
      }
      var row = 0
      while (row < rows) {
        numbers.putLong(row, passed + row)
        row += 1
      }
      passed += rows
    }

    override def close(): Unit = batches match {
      case open: Closeable => open.close()
      case _ =>
    }
  }
}

private[scan] object RowNumbers {

  /** None if the columns have no number, or if Delta's reader needs it to mark deleted rows. */
  def of(asked: StructType): Option[RowNumbers] = {
    val at = asked.fieldNames.indexOf(ParquetFileFormat.ROW_INDEX_TEMPORARY_COLUMN_NAME)
    Option.when(at >= 0 && !asked.fieldNames.exists(DeltaIndexes.isDeletionMark))(
      RowNumbers(StructType(asked.patch(at, Nil, 1)), at))
  }
}
