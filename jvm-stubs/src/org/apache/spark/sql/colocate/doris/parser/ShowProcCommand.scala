package org.apache.spark.sql.colocate.doris.parser

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.bridge.{ControlPlane, LocalRows}
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.types.{DataType, StructField, StructType}
import org.apache.spark.sql.{Row, SparkSession => AnySession}

/** Doris' `SHOW PROC '/colocation_group'` and `SHOW PROC '/colocation_group/<GroupId>'`. */
case class ShowProcCommand(path: String) extends LeafRunnableCommand {

  // The columns depend on the path. One call gives columns and rows, so that they fit each other.
  @transient private lazy val answer = ControlPlane.call(SparkSession.active, "show_proc", "path" -> path)

  private lazy val columns = StructType((answer \ "columns").children.map { column =>
    val parts = column.children.map(_.values.toString)
    StructField(parts.head, DataType.fromDDL(parts.last))
  })

  override lazy val output: Seq[Attribute] = toAttributes(columns)

  override def run(sparkSession: AnySession): Seq[Row] = (answer \ "rows").children.map { line =>
    Row.fromSeq(line.children.zip(columns).map { case (cell, field) => LocalRows.value(cell, field.dataType) })
  }
}
