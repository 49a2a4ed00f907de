package org.apache.spark.sql.colocate.doris.parser

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.parser.{ParameterContext, ParseException, ParserInterface}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.{FunctionIdentifier, TableIdentifier}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.catalog.RefreshRewritten
import org.apache.spark.sql.colocate.columns.HintHook
import org.apache.spark.sql.colocate.compat.hooks.SecretSettings
import org.apache.spark.sql.types.{DataType, StructType}

/**
 * Spark's parser first: only a text that it can't parse is looked at here, so other statements cost nothing and
 * Spark's grammar is unchanged. Every table name is parsed before it is analyzed; HintHook needs that.
 */
class ColocateParser(session: SparkSession, spark: ParserInterface) extends ParserInterface {

  private val ShowProc = """(?is)\s*show\s+proc\s+(?:'([^']*)'|"([^"]*)")\s*;?\s*""".r

  override def parsePlan(text: String): LogicalPlan = orOurs(text)(spark.parsePlan)

  override def parsePlanWithParameters(text: String, parameters: ParameterContext): LogicalPlan =
    orOurs(text)(spark.parsePlanWithParameters(_, parameters))

  private def orOurs(text: String)(parse: String => LogicalPlan): LogicalPlan = {
    RefreshRewritten(session)
    SecretSettings.install(session)
    val plan = SetSecret.of(parsed(text)(parse), session)
    RowVariables.check(plan, text)
    plan
  }

  private def parsed(text: String)(parse: String => LogicalPlan): LogicalPlan =
    try DorisMeaning.of(hiding(parse(text)), session)
    catch {
      case refused: ParseException =>
        text match {
          case ShowProc(single, double) => ShowProcCommand(Option(single).getOrElse(double))
          case _ if DorisText.mayBe(text) || DorisWords.mayBe(text, refused) =>
            hiding(DorisText.parsed(session, text, refused)(again(parse)))
          case _ => throw refused
        }
    }

  /** What was read once may have another word of Doris: a hint, and LIMIT with two numbers. */
  private def again(parse: String => LogicalPlan)(text: String): LogicalPlan =
    try parse(text)
    catch {
      case refused: ParseException if DorisWords.mayBe(text, refused) =>
        DorisText.parsed(session, text, refused)(parse)
    }

  private def hiding[T](parsed: T): T = {
    HintHook.ensure(session)
    parsed
  }

  override def parseExpression(text: String): Expression = spark.parseExpression(text)
  override def parseTableIdentifier(text: String): TableIdentifier = hiding(spark.parseTableIdentifier(text))
  override def parseFunctionIdentifier(text: String): FunctionIdentifier = spark.parseFunctionIdentifier(text)
  override def parseMultipartIdentifier(text: String): Seq[String] = {
    RefreshRewritten(session)
    hiding(spark.parseMultipartIdentifier(text))
  }
  override def parseQuery(text: String): LogicalPlan = hiding(spark.parseQuery(text))
  override def parseRoutineParam(text: String): StructType = spark.parseRoutineParam(text)
  override def parseTableSchema(text: String): StructType = spark.parseTableSchema(text)
  override def parseDataType(text: String): DataType = spark.parseDataType(text)
}
