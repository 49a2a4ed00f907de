package org.apache.spark.sql.colocate.ops.system

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.Json.formats
import org.apache.spark.sql.colocate.bridge.ControlPlane
import org.apache.spark.sql.colocate.system.SystemProcedure
import org.apache.spark.sql.connector.catalog.procedures.ProcedureParameter
import org.apache.spark.sql.types.{DoubleType, StringType}

/** The control plane reads Spark's event logs, by default those that this application is added to. */
object Advise extends SystemProcedure(
      "advise",
      "Lists the tables that would save most shuffles of the logged queries in a group, and the statements for it.",
      "rank INT, group_name STRING, `table` STRING, keys ARRAY<STRING>, buckets INT, saved_bytes BIGINT, " +
        "saved_bytes_per_day BIGINT, saved_seconds DOUBLE, queries BIGINT, rewritten_bytes BIGINT, statement STRING") {

  override def parameters(): Array[ProcedureParameter] =
    Array(optional("log", StringType, "''"), optional("days", DoubleType, "0D"))

  override protected def run(session: SparkSession, input: InternalRow): Seq[Row] = {
    val named = input.getString(0)
    val log = if (named.isEmpty) session.sparkContext.conf.get("spark.eventLog.dir", "/tmp/spark-events") else named
    ControlPlane.call(session, "advise", "log" -> log, "days" -> input.getDouble(1)).children.map { line =>
      def long(field: String) = (line \ field).extract[Long]
      def text(field: String) = (line \ field).extract[String]
      Row((line \ "rank").extract[Int], text("group_name"), text("table"), (line \ "keys").extract[Seq[String]],
        (line \ "buckets").extract[Int], long("saved_bytes"), long("saved_bytes_per_day"),
        (line \ "saved_seconds").extract[Double], long("queries"), long("rewritten_bytes"), text("statement"))
    }
  }
}
