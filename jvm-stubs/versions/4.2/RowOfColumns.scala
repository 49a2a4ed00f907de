package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.vectorized.ColumnVector
import org.apache.spark.unsafe.types.BinaryView

/** A row that reads vectors, with the getters that other versions lack: views of binary values, since Spark 4.2. */
abstract class RowOfColumns extends InternalRow {

  protected def vectors: Array[ColumnVector]

  /** The row's number in its batch. */
  def at: Int

  override def getBinaryView(column: Int): BinaryView = vectors(column).getBinaryView(at)
}
