package org.apache.spark.sql.colocate.ops.system

import java.util
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteNameParts
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.Json.formats
import org.apache.spark.sql.colocate.bridge.{ControlPlane, LocalRows}
import org.apache.spark.sql.colocate.compat.PlainProcedure
import org.apache.spark.sql.connector.catalog.Identifier
import org.apache.spark.sql.connector.catalog.procedures.{ProcedureParameter, UnboundProcedure}
import org.apache.spark.sql.connector.read.Scan
import org.apache.spark.sql.types._
import org.json4s.JValue

/** The procedures of namespace `system`: `CALL system.<name>(...)`. Most call one verb of the control plane. */
object Procedures {

  private val Namespace = Array("system")

  private val all: Seq[SystemProcedure] = Seq(
    ExplainProcedure,
    SetGroupStable,
    PurgeGroup,
    SetReplication,
    SetConfig,
    ShowConfig,
    Reconcile,
    Doctor,
    RemoveLeftover,
    AddPartition,
    AddPartitions,
    DropPartition,
    TruncatePartition,
    ShowPartitions,
    ShowData,
    Compact,
    Verify,
    Repair,
    Balance,
    PauseJob,
    ResumeJob,
    CancelJob,
    WaitJob)

  def load(ident: Identifier): Option[UnboundProcedure] = all.find(_.name().equalsIgnoreCase(ident.name()))

  def list: Seq[Identifier] = all.map(procedure => Identifier.of(Namespace, procedure.name()))
}

/** A procedure that answers with a few rows. */
abstract class SystemProcedure(title: String, help: String, answer: String) extends PlainProcedure {

  override def name(): String = title
  override def description(): String = help
  override def isDeterministic: Boolean = false

  final override def call(input: InternalRow): util.Iterator[Scan] = {
    refuseNulls(input)
    Iterator[Scan](rows(SparkSession.active, input)).asJava
  }

  protected def rows(session: SparkSession, input: InternalRow): LocalRows =
    new LocalRows(StructType.fromDDL(answer), run(session, input))

  /** A variable of a script that was never set is NULL, which must not be taken for false, 0 or nothing. */
  private def refuseNulls(input: InternalRow): Unit =
    parameters().zipWithIndex.foreach { case (parameter, i) =>
      val default = Option(parameter.defaultValue())
      val mayBeNull = default.exists(_.getSql.equalsIgnoreCase("NULL"))
      if (input.isNullAt(i) && !mayBeNull) throw new ColocateException("PROCEDURE_NULL",
        s"Cannot call system.$title: ${parameter.name()} is NULL. Give it a value" +
          (if (default.isEmpty) "." else ", or leave it out."))
    }

  protected def run(session: SparkSession, input: InternalRow): Seq[Row]

  protected def required(name: String, dataType: DataType): ProcedureParameter =
    ProcedureParameter.in(name, dataType).build()

  /** @param default as SQL */
  protected def optional(name: String, dataType: DataType, default: String): ProcedureParameter =
    ProcedureParameter.in(name, dataType).defaultValue(default).build()

  /** A group is named `db.g`, `__global__g`, or `g` of the current database. */
  protected def onGroup(session: SparkSession, verb: String, group: String, args: (String, Any)*): JValue =
    ControlPlane.call(session, verb, Seq("group" -> group, "db" -> session.catalog.currentDatabase) ++ args: _*)
}

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
