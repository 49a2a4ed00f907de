package org.apache.spark.sql.colocate.layout

/** @param bytes of the files with these rows, compressed */
case class RowCount(rows: Long, bytes: Long) {
  def +(other: RowCount): RowCount = RowCount(rows + other.rows, bytes + other.bytes)
}

object RowCount {
  val None: RowCount = RowCount(0L, 0L)
}
