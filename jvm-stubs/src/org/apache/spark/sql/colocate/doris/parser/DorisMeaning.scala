package org.apache.spark.sql.colocate.doris.parser

import org.apache.spark.sql.catalyst.analysis.UnresolvedTableOrView
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, ShowCreateTable, SupervisingCommand}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.Json.formats
import org.apache.spark.sql.colocate.bridge.ControlPlane
import org.apache.spark.sql.colocate.conf.Settings
import org.apache.spark.sql.colocate.explain.DorisPlan
import org.apache.spark.sql.execution.CommandExecutionMode
import org.apache.spark.sql.execution.command.{DescribeQueryCommand, LeafRunnableCommand}
import org.apache.spark.sql.types.StringType
import org.apache.spark.sql.{classic, Row, SparkSession => AnySession}

/** The statements that mean one thing in Spark and another one in Doris. */
object DorisMeaning {

  private def isWanted(session: SparkSession): Boolean =
    Settings.get(session.sessionState.conf, "spark.colocate.dialect") == "doris"

  /**
   * Gives statements the meaning that they have under `spark.colocate.dialect = doris`: DESC SELECT shows the plan,
   * where Spark's shows the query's columns, and SHOW CREATE TABLE the statement in Doris' spelling.
   */
  def of(plan: LogicalPlan, session: SparkSession): LogicalPlan = plan match {
    case describe: DescribeQueryCommand if isWanted(session) => DorisExplain(describe.plan)
    case show @ ShowCreateTable(table: UnresolvedTableOrView, false, _) if isWanted(session) =>
      DorisShowCreate(table.multipartIdentifier.last, show)
    case _ => plan
  }
}

/** Doris' `SHOW CREATE TABLE`. Spark's statement, where Doris has no words for what the table has. */
case class DorisShowCreate(table: String, show: LogicalPlan) extends LeafRunnableCommand {

  override val output: Seq[Attribute] =
    Seq("Table", "Create Table").map(AttributeReference(_, StringType, nullable = false)())

  override def run(session: AnySession): Seq[Row] = {
    val driver = session.asInstanceOf[classic.SparkSession]
    val spark = classic.Dataset.ofRows(driver, show).head().getString(0)
    val format = Settings.get(driver.sessionState.conf, "spark.colocate.dialect.format")
    val answer = ControlPlane.call(driver, "doris_create", "text" -> spark, "format" -> format)
    Seq(Row(table, (answer \ "statement").extractOpt[String].getOrElse(spark)))
  }
}

/** Doris' `DESC SELECT ...`: the plan in Doris' form, with a line `colocate: ...` for each join. */
case class DorisExplain(query: LogicalPlan) extends LeafRunnableCommand with SupervisingCommand {

  override val output: Seq[Attribute] = Seq(AttributeReference("Explain String", StringType, nullable = false)())

  override def run(session: AnySession): Seq[Row] = {
    val state = session.asInstanceOf[classic.SparkSession].sessionState
    new DorisPlan(state.executePlan(query, CommandExecutionMode.SKIP).executedPlan).lines.map(Row(_))
  }

  override def withTransformedSupervisedPlan(transformer: LogicalPlan => LogicalPlan): LogicalPlan =
    copy(query = transformer(query))
}
