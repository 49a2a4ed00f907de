package org.apache.spark.sql.colocate.rules

import org.apache.spark.sql.execution.exchange.{ENSURE_REQUIREMENTS, EnsureRequirements, ShuffleExchangeExec}
import org.apache.spark.sql.execution.{SortExec, SparkPlan}

/**
 * Runs Spark's EnsureRequirements over a plan that a rule has changed, so that it gets the Exchanges and sorts that it
 * now lacks. A user's repartition stays.
 */
private[colocate] object RerunEnsureRequirements {
  def apply(plan: SparkPlan): SparkPlan = EnsureRequirements(optimizeOutRepartition = false)(plan)

  /** Where `change` changes nothing, the plan stays the same object. */
  def after(plan: SparkPlan)(change: SparkPlan => SparkPlan): SparkPlan = {
    val changed = change(plan)
    if (changed eq plan) plan else withoutIdleSorts(apply(changed))
  }

  /** A sort directly below a new Exchange is useless: EnsureRequirements adds another one above the Exchange. */
  private def withoutIdleSorts(plan: SparkPlan): SparkPlan = plan.transform {
    case shuffle @ ShuffleExchangeExec(_, SortExec(_, false, child, _), ENSURE_REQUIREMENTS, _) =>
      shuffle.copy(child = child)
  }
}
