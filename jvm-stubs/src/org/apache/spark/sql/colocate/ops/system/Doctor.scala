package org.apache.spark.sql.colocate.ops.system

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.Json.formats
import org.apache.spark.sql.colocate.bridge.ControlPlane
import org.apache.spark.sql.colocate.system.{CatalogListing, SystemProcedure}
import org.apache.spark.sql.connector.catalog.procedures.ProcedureParameter
import org.apache.spark.sql.types.StringType

/** Inspects the tables; the control plane decides what is a finding. */
object Doctor extends SystemProcedure(
      "doctor",
      "Lists what is wrong or wasteful in groups and bucketed tables, each with the statement that fixes it.",
      "severity STRING, code STRING, object STRING, finding STRING, cure STRING") {

  override def parameters(): Array[ProcedureParameter] =
    Array(optional("db", StringType, "''"))

  private def leftovers(session: SparkSession, listing: CatalogListing): Seq[Map[String, Any]] = {
    val looking = new Leftovers(session)
    listing.declared.map(_.db).flatMap(looking.of).map(_.toMap)
  }

  override protected def run(session: SparkSession, input: InternalRow): Seq[Row] = {
    val listing = CatalogListing.of(session, input.getString(0))
    val (tables, unread) = new InspectedTables(session).of(listing.declared.flatMap(_.bucketed))
    val found = ControlPlane.call(session, "doctor",
      "db" -> listing.database.getOrElse(""),
      "tables" -> tables,
      "unread" -> (listing.declared.flatMap(_.unread) ++ unread),
      "leftovers" -> leftovers(session, listing),
      "version" -> listing.version,
      "databases" -> listing.database.map(Seq(_)).orNull)
    found.children.map { line =>
      Row.fromSeq(Seq("severity", "code", "object", "finding", "cure").map(field => (line \ field).extract[String]))
    }
  }
}
