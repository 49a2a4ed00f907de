package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.types.DataType

/** Columns of type TIME: none before Spark 4.1. */
object TimesOfDay {
  def isOne(column: DataType): Boolean = false
}
