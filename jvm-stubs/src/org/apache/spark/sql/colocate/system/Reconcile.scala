package org.apache.spark.sql.colocate.system

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.Json.formats
import org.apache.spark.sql.colocate.bridge.ControlPlane
import org.apache.spark.sql.connector.catalog.procedures.ProcedureParameter
import org.apache.spark.sql.types._

/** Updates the registry from the tables, after changes by a session without the extension or by a driver that died. */
object Reconcile extends SystemProcedure(
      "reconcile",
      "Compares the groups with the properties of all tables, or of one database's, and heals the differences.",
      "db STRING, table STRING, action STRING, `group` STRING, message STRING") {

  override def parameters(): Array[ProcedureParameter] =
    Array(optional("db", StringType, "''"))

  override protected def run(session: SparkSession, input: InternalRow): Seq[Row] = {
    val listing = CatalogListing.of(session, input.getString(0))
    val answer = ControlPlane.call(session, "reconcile",
      "tables" -> listing.declared.flatMap(_.members),
      "unread" -> listing.declared.flatMap(_.unread),
      "version" -> listing.version,
      // All of them: then members of dropped databases are removed, too.
      "databases" -> listing.database.map(Seq(_)).orNull)
    (answer \ "changed").children.map { change =>
      Row.fromSeq(Seq("db", "table", "action", "group", "message").map(field => (change \ field).extract[String]))
    }
  }
}
