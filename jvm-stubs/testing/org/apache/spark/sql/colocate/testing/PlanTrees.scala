package org.apache.spark.sql.colocate.testing

import scala.collection.mutable

import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.adaptive.{AdaptiveSparkPlanExec, QueryStageExec}
import org.apache.spark.sql.execution.{CommandExecutionMode, CommandResultExec, QueryExecution, SparkPlan}

/**
 * Plans as strings by which two sessions can be compared: classes, arguments and ids numbered in the order of the text.
 */
object PlanTrees {

  /** The optimized and the executable plan of a statement, which is not run. */
  def planned(session: SparkSession, sql: String): String = session.withActive {
    val state = session.sessionState
    both(state.executePlan(state.sqlParser.parsePlan(sql), CommandExecutionMode.SKIP))
  }

  /** The same when the query has run. */
  def run(session: SparkSession, sql: String): String = session.withActive {
    val query = session.sql(sql)
    query.collect()
    both(query.queryExecution)
  }

  private def both(query: QueryExecution): String =
    numbered((lines(query.optimizedPlan, 0) ++ lines(query.executedPlan, 0)).mkString("\n"))

  private def lines(plan: QueryPlan[_], depth: Int): Seq[String] =
    s"${"  " * depth}${plan.getClass.getName} ${plan.simpleString(1000)}" +: below(plan).flatMap(lines(_, depth + 1))

  private def below(plan: QueryPlan[_]): Seq[QueryPlan[_]] = {
    val held: Seq[SparkPlan] = plan match {
      case adaptive: AdaptiveSparkPlanExec => Seq(adaptive.executedPlan)
      case stage: QueryStageExec => Seq(stage.plan)
      case result: CommandResultExec => Seq(result.commandPhysicalPlan)
      case _ => Nil
    }
    held ++ plan.children.map(_.asInstanceOf[QueryPlan[_]]) ++ plan.subqueries.map(_.asInstanceOf[QueryPlan[_]])
  }

  private val Id = """(?<=#|id=|plan_id=|@|Lambda/0x)[0-9a-f]+""".r

  private def numbered(text: String): String = {
    val seen = mutable.HashMap.empty[String, Int]
    Id.replaceAllIn(text, found => seen.getOrElseUpdate(found.matched, seen.size).toString)
  }
}
