package org.apache.spark.sql.colocate.plan

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.EnsureRequirements

/**
 * Spark's EnsureRequirements again, over a plan that a rule has changed: the Exchanges and sorts that it lacks now. A
 * repartition that the user asked for stays.
 */
private[plan] object Ensure {
  def apply(plan: SparkPlan): SparkPlan = EnsureRequirements(optimizeOutRepartition = false)(plan)
}
