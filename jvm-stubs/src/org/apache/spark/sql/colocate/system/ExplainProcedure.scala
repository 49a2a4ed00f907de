package org.apache.spark.sql.colocate.system

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.explain.Verdicts
import org.apache.spark.sql.connector.catalog.procedures.ProcedureParameter
import org.apache.spark.sql.execution.CommandExecutionMode
import org.apache.spark.sql.types.StringType

/** The verdicts of a query as rows, for JDBC and Spark Connect; the query is planned, not run. */
object ExplainProcedure extends SystemProcedure(
      "explain",
      "Tells for every join, aggregate and window of a query whether it is colocated, and why not.",
      "operator STRING, colocated BOOLEAN, code STRING, text STRING, `group` STRING, buckets INT, `left` STRING, " +
        "`right` STRING") {

  override def parameters(): Array[ProcedureParameter] = Array(required("sql", StringType))

  override protected def run(session: SparkSession, input: InternalRow): Seq[Row] = {
    val plan = session.sessionState.sqlParser.parsePlan(input.getString(0))
    Verdicts.of(session.sessionState.executePlan(plan, CommandExecutionMode.SKIP)).map { verdict =>
      Row(
        verdict.operator, verdict.colocated, verdict.code, verdict.text, verdict.group.orNull,
        verdict.buckets.map(Int.box).orNull, verdict.left.orNull, verdict.right.orNull)
    }
  }
}
