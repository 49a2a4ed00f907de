package org.apache.spark.sql.colocate.rules

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.rules.join.JoinSides
import org.apache.spark.sql.colocate.rules.semantics.MarkRepartitioned
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.ValidateRequirements

/**
 * A rule that deals out the rows of a join in another way, with its consequences: what stands above was planned upon the
 * old way, and is asked again. Where that costs more Exchanges than the rule saves, the plan stays as it was, and so it
 * does where the old way is also what a user asked for.
 */
private[colocate] case class ReplanAncestors(rule: Rule[SparkPlan]) extends Rule[SparkPlan] {

  override val ruleName: String = rule.ruleName

  override def apply(plan: SparkPlan): SparkPlan = {
    val changed = rule(plan)
    if ((changed eq plan) || MarkRepartitioned.isDropped(plan)) plan
    else {
      val asked = if (ValidateRequirements.validate(changed)) changed else RerunEnsureRequirements(changed)
      if (JoinSides.exchanges(asked) <= JoinSides.exchanges(plan)) asked else plan
    }
  }
}
