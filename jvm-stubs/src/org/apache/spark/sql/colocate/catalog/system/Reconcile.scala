package org.apache.spark.sql.colocate.catalog.system

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.bridge.{ControlPlane, GroupState}
import org.apache.spark.sql.colocate.catalog.describe.DeclaredTables
import org.apache.spark.sql.colocate.conf.Json.formats
import org.apache.spark.sql.connector.catalog.procedures.ProcedureParameter
import org.apache.spark.sql.types._

/** Updates the registry from the tables, after changes by a session without the extension or by a driver that died. */
object Reconcile extends SystemProcedure(
      "reconcile",
      "Compares the groups with the properties of all tables, or of one database's, and heals the differences.",
      "db STRING, table STRING, action STRING, `group` STRING, message STRING") {

  override def parameters(): Array[ProcedureParameter] =
    Array(ProcedureParameter.in("db", StringType).defaultValue("''").build())

  override protected def run(session: SparkSession, input: InternalRow): Seq[Row] = {
    ControlPlane.call(session, "table_rows") // For the newest version.
    // Taken before the listing begins: a table that joins meanwhile is not in the list, and must stay.
    val version = GroupState.current.version
    val databases = Databases.named(session, input.getString(0))
    val declared = databases.map(new DeclaredTables(session, _))
    val answer = ControlPlane.call(session, "reconcile",
      "tables" -> declared.flatMap(_.members),
      "unread" -> declared.flatMap(_.unread),
      "version" -> version,
      // All of them: then members of dropped databases are removed, too.
      "databases" -> (if (input.getString(0).isEmpty) null else databases))
    (answer \ "changed").children.map { change =>
      Row.fromSeq(Seq("db", "table", "action", "group", "message").map(field => (change \ field).extract[String]))
    }
  }
}

private[system] object Databases {

  /** The named one, spelled as the catalog has it; all, where the name is empty. */
  def named(session: SparkSession, db: String): Seq[String] =
    if (db.isEmpty) session.sharedState.externalCatalog.listDatabases()
    else {
      val catalog = session.sessionState.catalog
      Seq(catalog.getDatabaseMetadata(db).name)
    }
}
