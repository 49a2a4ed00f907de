package org.apache.spark.sql.colocate.catalog.system

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.bridge.{ControlPlane, GroupState}
import org.apache.spark.sql.colocate.catalog.describe.DeclaredTables
import org.apache.spark.sql.colocate.conf.Json.formats
import org.apache.spark.sql.connector.catalog.procedures.ProcedureParameter
import org.apache.spark.sql.types.StringType

/** The tables are looked at here; what of it is a finding is decided by the control plane. */
object Doctor extends SystemProcedure(
      "doctor",
      "Lists what is wrong or wasteful in groups and bucketed tables, each with the statement that mends it.",
      "severity STRING, code STRING, object STRING, finding STRING, cure STRING") {

  override def parameters(): Array[ProcedureParameter] =
    Array(ProcedureParameter.in("db", StringType).defaultValue("''").build())

  override protected def run(session: SparkSession, input: InternalRow): Seq[Row] = {
    ControlPlane.call(session, "table_rows") // For the newest version.
    val version = GroupState.current.version
    val databases = Databases.named(session, input.getString(0))
    val declared = databases.map(new DeclaredTables(session, _))
    val (tables, unread) = new InspectedTables(session).of(declared.flatMap(_.bucketed))
    val found = ControlPlane.call(session, "doctor",
      "db" -> (if (input.getString(0).isEmpty) "" else databases.head),
      "tables" -> tables,
      "unread" -> (declared.flatMap(_.unread) ++ unread),
      "version" -> version,
      "databases" -> (if (input.getString(0).isEmpty) null else databases))
    found.children.map { line =>
      Row.fromSeq(Seq("severity", "code", "object", "finding", "cure").map(field => (line \ field).extract[String]))
    }
  }
}
