package org.apache.spark.sql.colocate.parser

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.parser.{ParameterContext, ParseException, ParserInterface}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.catalyst.{FunctionIdentifier, TableIdentifier}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.bridge.ControlPlane
import org.apache.spark.sql.colocate.catalog.system.LocalRows
import org.apache.spark.sql.colocate.columns.HintHook
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

/**
 * Spark's parser first: only a text that it can't parse is looked at here, so other statements cost nothing and
 * Spark's grammar is unchanged. Every table name is parsed before it is analyzed; HintHook needs that.
 */
class ColocateParser(session: SparkSession, spark: ParserInterface) extends ParserInterface {

  private val ShowProc = """(?is)\s*show\s+proc\s+(?:'([^']*)'|"([^"]*)")\s*;?\s*""".r

  override def parsePlan(text: String): LogicalPlan = orOurs(text)(spark.parsePlan(text))

  override def parsePlanWithParameters(text: String, parameters: ParameterContext): LogicalPlan =
    orOurs(text)(spark.parsePlanWithParameters(text, parameters))

  private def orOurs(text: String)(plan: => LogicalPlan): LogicalPlan =
    try hiding(plan)
    catch {
      case refused: ParseException =>
        text match {
          case ShowProc(single, double) => ShowProcCommand(Option(single).getOrElse(double))
          case _ => throw refused
        }
    }

  private def hiding[T](parsed: T): T = {
    HintHook.ensure(session)
    parsed
  }

  override def parseExpression(text: String): Expression = spark.parseExpression(text)
  override def parseTableIdentifier(text: String): TableIdentifier = hiding(spark.parseTableIdentifier(text))
  override def parseFunctionIdentifier(text: String): FunctionIdentifier = spark.parseFunctionIdentifier(text)
  override def parseMultipartIdentifier(text: String): Seq[String] = hiding(spark.parseMultipartIdentifier(text))
  override def parseQuery(text: String): LogicalPlan = hiding(spark.parseQuery(text))
  override def parseRoutineParam(text: String): StructType = spark.parseRoutineParam(text)
  override def parseTableSchema(text: String): StructType = spark.parseTableSchema(text)
  override def parseDataType(text: String): DataType = spark.parseDataType(text)
}
