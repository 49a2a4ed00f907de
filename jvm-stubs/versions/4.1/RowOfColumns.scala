package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.vectorized.ColumnVector
import org.apache.spark.unsafe.types.{GeographyVal, GeometryVal}

/** A row that reads vectors, with the getters that other versions lack: those of places, in Spark 4.1 alone. */
abstract class RowOfColumns extends InternalRow {

  protected def vectors: Array[ColumnVector]

  /** The row's number in its batch. */
  def at: Int

  override def getGeography(column: Int): GeographyVal = vectors(column).getGeography(at)
  override def getGeometry(column: Int): GeometryVal = vectors(column).getGeometry(at)
}
