package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.types.{DataType, TimeType}

/** Columns of type TIME, which Spark has since 4.1. */
object TimesOfDay {
  def isOne(column: DataType): Boolean = column.isInstanceOf[TimeType]
}
