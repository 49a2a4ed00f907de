package org.apache.spark.sql.colocate.admin

import org.apache.spark.sql.connector.catalog.{Identifier, Table}

/** The tables of namespace `system`. */
object SystemTables {

  def load(ident: Identifier): Option[Table] = None
}
