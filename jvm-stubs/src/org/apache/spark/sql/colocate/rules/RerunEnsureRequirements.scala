package org.apache.spark.sql.colocate.rules

import org.apache.spark.sql.execution.exchange.{ENSURE_REQUIREMENTS, EnsureRequirements, ShuffleExchangeExec}
import org.apache.spark.sql.execution.{SortExec, SparkPlan}

/**
 * Spark's EnsureRequirements again, over a plan that a rule has changed: the Exchanges and sorts that it lacks now. A
 * repartition that the user asked for stays.
 */
private[colocate] object RerunEnsureRequirements {
  def apply(plan: SparkPlan): SparkPlan = EnsureRequirements(optimizeOutRepartition = false)(plan)

  /** Where `change` changes nothing, the plan stays the same object. */
  def after(plan: SparkPlan)(change: SparkPlan => SparkPlan): SparkPlan = {
    val changed = change(plan)
    if (changed eq plan) plan else withoutIdleSorts(apply(changed))
  }

  /** The sort that stood above a scan by bucket has got an Exchange above it, and that a sort of its own. */
  private def withoutIdleSorts(plan: SparkPlan): SparkPlan = plan.transform {
    case shuffle @ ShuffleExchangeExec(_, SortExec(_, false, child, _), ENSURE_REQUIREMENTS, _) => shuffle.copy(child = child)
  }
}
