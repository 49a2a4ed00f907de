package org.apache.spark.sql.colocate.compat.delta

import org.apache.spark.sql.types.StructField

/** Delta's column mapping: a column may have another name in the files and in the log. */
object MappedColumns {

  val PhysicalNameKey = "delta.columnMapping.physicalName"

  def physicalName(column: StructField): String =
    if (column.metadata.contains(PhysicalNameKey)) column.metadata.getString(PhysicalNameKey) else column.name
}
