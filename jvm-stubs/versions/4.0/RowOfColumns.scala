package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.vectorized.ColumnVector

/** A row that reads vectors, with the getters that other versions lack: Spark 4.0 has none. */
abstract class RowOfColumns extends InternalRow {

  protected def vectors: Array[ColumnVector]

  /** The row's number in its batch. */
  def at: Int
}
