package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.connector.catalog.{CatalogV2Util, Table}
import org.apache.spark.sql.types.StructType

/** A table that declares its columns; each in Spark 4.0 has to declare the schema, too, which later ones compute. */
trait SchemaOfColumns extends Table {
  override def schema(): StructType = CatalogV2Util.v2ColumnsToStructType(columns())
}
