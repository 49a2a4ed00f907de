package org.apache.spark.sql.execution.colocate.merge

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.{ArrayData, MapData}
import org.apache.spark.sql.colocate.compat.RowOfColumns
import org.apache.spark.sql.types.{DataType, Decimal}
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch, ColumnarBatchRow}
import org.apache.spark.unsafe.types.{CalendarInterval, UTF8String, VariantVal}

/**
 * A row of a batch, as Spark's ColumnarBatchRow. Columns without nulls, or with nothing else, are not asked for them: a
 * merge passes from one batch to another with each row, so what it reads is seldom in the processor's cache.
 *
 * @param withNull a bit for each of the first 64 columns: has it nulls?
 * @param onlyNull the same: has it nothing else?
 */
private[merge] final class BatchRow private (columns: Array[ColumnVector], withNull: Long, onlyNull: Long)
    extends RowOfColumns {

  override protected def vectors: Array[ColumnVector] = columns

  /** The row's number in the batch. */
  var at: Int = 0

  /** Another row of the same batch. */
  def another: BatchRow = new BatchRow(columns, withNull, onlyNull)

  private def ofSpark: ColumnarBatchRow = {
    val row = new ColumnarBatchRow(columns)
    row.rowId = at
    row
  }

  override def numFields: Int = columns.length
  override def isNullAt(column: Int): Boolean =
    if (column >= 64) columns(column).isNullAt(at)
    else (withNull >> column & 1) != 0 && ((onlyNull >> column & 1) != 0 || columns(column).isNullAt(at))
  override def getBoolean(column: Int): Boolean = columns(column).getBoolean(at)
  override def getByte(column: Int): Byte = columns(column).getByte(at)
  override def getShort(column: Int): Short = columns(column).getShort(at)
  override def getInt(column: Int): Int = columns(column).getInt(at)
  override def getLong(column: Int): Long = columns(column).getLong(at)
  override def getFloat(column: Int): Float = columns(column).getFloat(at)
  override def getDouble(column: Int): Double = columns(column).getDouble(at)
  override def getDecimal(column: Int, precision: Int, scale: Int): Decimal =
    columns(column).getDecimal(at, precision, scale)
  override def getUTF8String(column: Int): UTF8String = columns(column).getUTF8String(at)
  override def getBinary(column: Int): Array[Byte] = columns(column).getBinary(at)
  override def getInterval(column: Int): CalendarInterval = columns(column).getInterval(at)
  override def getVariant(column: Int): VariantVal = columns(column).getVariant(at)
  override def getStruct(column: Int, fields: Int): InternalRow = columns(column).getStruct(at)
  override def getArray(column: Int): ArrayData = columns(column).getArray(at)
  override def getMap(column: Int): MapData = columns(column).getMap(at)
  override def get(column: Int, of: DataType): AnyRef = ofSpark.get(column, of)
  override def copy(): InternalRow = ofSpark.copy()
  override def update(column: Int, value: Any): Unit = throw new UnsupportedOperationException
  override def setNullAt(column: Int): Unit = throw new UnsupportedOperationException
}

private[merge] object BatchRow {

  /** The first row of a batch. */
  def of(batch: ColumnarBatch): BatchRow = {
    val columns = Array.tabulate(batch.numCols())(batch.column)
    var (withNull, onlyNull) = (0L, 0L)
    for (number <- 0 until columns.length.min(64)) {
      if (columns(number).hasNull) withNull |= 1L << number
      if (columns(number).numNulls >= batch.numRows) onlyNull |= 1L << number
    }
    new BatchRow(columns, withNull, onlyNull)
  }
}
