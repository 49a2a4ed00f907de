package org.apache.spark.sql.colocate.admin

import org.apache.spark.sql.connector.catalog.Identifier
import org.apache.spark.sql.connector.catalog.procedures.UnboundProcedure

/** The procedures of namespace `system`. */
object Procedures {

  def load(ident: Identifier): Option[UnboundProcedure] = None

  def list: Seq[Identifier] = Nil
}
