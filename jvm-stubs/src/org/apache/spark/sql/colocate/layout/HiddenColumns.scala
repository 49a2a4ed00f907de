package org.apache.spark.sql.colocate.layout

import org.apache.spark.sql.catalyst.expressions.{Cast, Expression}
import org.apache.spark.sql.connector.catalog.Column
import org.apache.spark.sql.types.{DataType, StructType}

/** The partition columns of a Delta table that Delta computes and users do not see. */
object HiddenColumns {

  private val names = Set(BucketColumn.Name, RangeColumn.Name)

  def contains(name: String): Boolean = names(name)

  /** Can no column of a table with hidden columns have this name? */
  def isReserved(name: String): Boolean = names.exists(_.equalsIgnoreCase(name))

  private val listed = names.mkString("(?:", "|", ")#\\d+L?")

  /** The text of a plan whose lists of columns leave the hidden ones out. */
  def removedFrom(text: String): String = text.replaceAll(s",\\s*$listed", "").replaceAll(s"$listed,\\s*", "")

  /** A column of a query as the table stores it: hidden columns are computed from stored values. */
  def asStored(column: Expression, stored: DataType): Expression =
    if (column.dataType == stored) column else Cast(column, stored)

  def without(schema: StructType): StructType = StructType(schema.filterNot(f => contains(f.name)))

  def visible(columns: Seq[Column]): Seq[Column] = columns.filterNot(c => contains(c.name))
}
