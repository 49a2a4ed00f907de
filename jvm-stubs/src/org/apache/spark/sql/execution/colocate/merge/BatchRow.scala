package org.apache.spark.sql.execution.colocate.merge

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.{ArrayData, MapData}
import org.apache.spark.sql.types.{DataType, Decimal}
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch, ColumnarBatchRow}
import org.apache.spark.unsafe.types.{BinaryView, CalendarInterval, UTF8String, VariantVal}

/**
 * A row of a batch, as Spark's ColumnarBatchRow. Columns without nulls, or with nothing else, are not asked for them: a
 * merge passes from one batch to another with each row, so what it reads is seldom in the processor's cache.
 */
private[merge] final class BatchRow(batch: ColumnarBatch) extends InternalRow {
  private val columns = Array.tabulate(batch.numCols())(batch.column)
  private val withNull = bits(_.hasNull)
  private val onlyNull = bits(_.numNulls >= batch.numRows)

  /** A bit for each of the first 64 columns. */
  private def bits(has: ColumnVector => Boolean): Long =
    columns.take(64).zipWithIndex.collect { case (column, number) if has(column) => 1L << number }.sum

  private val row = new ColumnarBatchRow(columns)

  def at: Int = row.rowId
  def at_=(number: Int): Unit = row.rowId = number

  override def numFields: Int = columns.length
  override def isNullAt(column: Int): Boolean =
    if (column >= 64) columns(column).isNullAt(row.rowId)
    else (withNull >> column & 1) != 0 && ((onlyNull >> column & 1) != 0 || columns(column).isNullAt(row.rowId))
  override def getBoolean(column: Int): Boolean = row.getBoolean(column)
  override def getByte(column: Int): Byte = row.getByte(column)
  override def getShort(column: Int): Short = row.getShort(column)
  override def getInt(column: Int): Int = row.getInt(column)
  override def getLong(column: Int): Long = row.getLong(column)
  override def getFloat(column: Int): Float = row.getFloat(column)
  override def getDouble(column: Int): Double = row.getDouble(column)
  override def getDecimal(column: Int, precision: Int, scale: Int): Decimal = row.getDecimal(column, precision, scale)
  override def getUTF8String(column: Int): UTF8String = row.getUTF8String(column)
  override def getBinary(column: Int): Array[Byte] = row.getBinary(column)
  override def getBinaryView(column: Int): BinaryView = row.getBinaryView(column)
  override def getInterval(column: Int): CalendarInterval = row.getInterval(column)
  override def getVariant(column: Int): VariantVal = row.getVariant(column)
  override def getStruct(column: Int, fields: Int): InternalRow = row.getStruct(column, fields)
  override def getArray(column: Int): ArrayData = row.getArray(column)
  override def getMap(column: Int): MapData = row.getMap(column)
  override def get(column: Int, of: DataType): AnyRef = row.get(column, of)
  override def copy(): InternalRow = row.copy()
  override def update(column: Int, value: Any): Unit = throw new UnsupportedOperationException
  override def setNullAt(column: Int): Unit = throw new UnsupportedOperationException
}
