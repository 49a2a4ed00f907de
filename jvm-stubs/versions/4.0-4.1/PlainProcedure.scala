package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.connector.catalog.procedures.{BoundProcedure, UnboundProcedure}
import org.apache.spark.sql.types.StructType

/** A procedure without overloads, bound as it is: Spark has a class for it since 4.2. */
trait PlainProcedure extends UnboundProcedure with BoundProcedure {
  override def bind(inputs: StructType): BoundProcedure = this
}
