package org.apache.spark.sql.colocate.system

import java.util
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.bridge.{ControlPlane, LocalRows}
import org.apache.spark.sql.colocate.compat.PlainProcedure
import org.apache.spark.sql.connector.catalog.procedures.ProcedureParameter
import org.apache.spark.sql.connector.read.Scan
import org.apache.spark.sql.types._
import org.json4s.JValue

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
