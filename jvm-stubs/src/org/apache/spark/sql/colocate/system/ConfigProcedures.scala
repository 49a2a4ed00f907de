package org.apache.spark.sql.colocate.system

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.bridge.{ControlPlane, LocalRows}
import org.apache.spark.sql.connector.catalog.procedures.ProcedureParameter
import org.apache.spark.sql.types.{StringType, StructType}
import org.json4s.JValue

/** Rows of `ADMIN SHOW FRONTEND CONFIG`, with Doris' columns. */
private object ConfigRows {

  val Columns = "Key STRING, Value STRING, Type STRING, IsMutable BOOLEAN, MasterOnly BOOLEAN, Comment STRING"

  private val schema = StructType.fromDDL(Columns)

  def of(entry: JValue): Row = LocalRows.row(entry, schema)
}

/** Doris' `ADMIN SET FRONTEND CONFIG`. */
object SetConfig extends SystemProcedure(
      "set_config",
      "Sets a configuration of Doris' frontend that concerns groups, for all sessions.",
      ConfigRows.Columns) {

  override def parameters(): Array[ProcedureParameter] =
    Array(required("key", StringType), required("value", StringType))

  override protected def run(session: SparkSession, input: InternalRow): Seq[Row] =
    Seq(ConfigRows.of(
      ControlPlane.call(session, "set_config", "key" -> input.getString(0), "value" -> input.getString(1))))
}

/** Doris' `ADMIN SHOW FRONTEND CONFIG`. */
object ShowConfig extends SystemProcedure(
      "show_config",
      "Shows the configurations of Doris' frontend that concern groups.",
      ConfigRows.Columns) {

  override def parameters(): Array[ProcedureParameter] =
    Array(optional("pattern", StringType, "'%'"))

  override protected def run(session: SparkSession, input: InternalRow): Seq[Row] =
    ControlPlane.call(session, "show_config", "pattern" -> input.getString(0)).children.map(ConfigRows.of)
}
