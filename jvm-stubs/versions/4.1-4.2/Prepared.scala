package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.{QueryExecution, SparkPlan}
import org.apache.spark.sql.execution.adaptive.AdaptiveExecutionContext

/** A query as it would run, planned with the settings of the context alone since Spark 4.1. */
object Prepared {
  def of(session: SparkSession, query: LogicalPlan, context: AdaptiveExecutionContext): SparkPlan =
    QueryExecution.prepareExecutedPlan(query, context)
}
