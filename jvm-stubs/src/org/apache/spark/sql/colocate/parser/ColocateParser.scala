package org.apache.spark.sql.colocate.parser

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.parser.{ParseException, ParserInterface}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.{FunctionIdentifier, TableIdentifier}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.catalog.RefreshRewritten
import org.apache.spark.sql.colocate.columns.HintHook
import org.apache.spark.sql.colocate.compat.hooks.SecretSettings
import org.apache.spark.sql.colocate.compat.ParserWithParameters
import org.apache.spark.sql.types.{DataType, StructType}

/**
 * Spark's parser first: only a statement that it can't parse is read here, so all others cost nothing and
 * Spark's grammar is unchanged. Every table name is parsed before it is analyzed; HintHook needs that.
 */
class ColocateParser(session: SparkSession, protected val spark: ParserInterface) extends ParserWithParameters {

  override def parsePlan(text: String): LogicalPlan = orOurs(text)(spark.parsePlan)

  override protected def orOurs(text: String)(parse: String => LogicalPlan): LogicalPlan = {
    RefreshRewritten(session)
    SecretSettings.install(session)
    val plan = SetSecret.of(parsed(text)(parse), session)
    OtherTexts.all.foreach(_.check(plan, text))
    plan
  }

  private def parsed(text: String)(parse: String => LogicalPlan): LogicalPlan =
    try OtherTexts.all.foldLeft(hiding(parse(text)))((plan, others) => others.meaning(plan, session))
    catch {
      case refused: ParseException =>
        val found = OtherTexts.all.iterator.flatMap(_.parsed(session, text, refused)(parse))
        hiding(found.nextOption().getOrElse(throw refused))
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
