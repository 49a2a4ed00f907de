package org.apache.spark.sql.colocate.system

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteNameParts
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.Json.formats
import org.apache.spark.sql.connector.catalog.procedures.ProcedureParameter
import org.apache.spark.sql.types._

object SetGroupStable extends SystemProcedure(
      "set_group_stable",
      "Sets a group's flag. Joins of an unstable group fall back to a broadcast or a shuffle.",
      "`group` STRING, stable BOOLEAN") {

  override def parameters(): Array[ProcedureParameter] =
    Array(required("group", StringType), required("stable", BooleanType))

  override protected def run(session: SparkSession, input: InternalRow): Seq[Row] = {
    val stable = input.getBoolean(1)
    val answer = onGroup(session, "set_group_stable", input.getString(0), "stable" -> stable)
    Seq(Row((answer \ "group").extract[String], stable))
  }
}

object PurgeGroup extends SystemProcedure(
      "purge_group",
      "Ends the recycle period of a group without tables now.",
      "`group` STRING") {

  override def parameters(): Array[ProcedureParameter] = Array(required("group", StringType))

  override protected def run(session: SparkSession, input: InternalRow): Seq[Row] =
    Seq(Row((onGroup(session, "purge_group", input.getString(0)) \ "group").extract[String]))
}

object SetReplication extends SystemProcedure(
      "set_replication",
      "Sets the hosts per bucket of a group and of all its members.",
      "`group` STRING, replication INT, tables INT") {

  override def parameters(): Array[ProcedureParameter] =
    Array(required("group", StringType), required("n", IntegerType))

  override protected def run(session: SparkSession, input: InternalRow): Seq[Row] = {
    val n = input.getInt(1)
    val answer = onGroup(session, "set_replication", input.getString(0), "replication" -> n)
    val tables = (answer \ "tables").children
    tables.foreach { table =>
      val name = quoteNameParts(Seq((table \ "db").extract[String], (table \ "table").extract[String]))
      session.sql(s"ALTER TABLE $name SET TBLPROPERTIES ('replication_num' = '$n')")
    }
    Seq(Row((answer \ "group").extract[String], n, tables.size))
  }
}
