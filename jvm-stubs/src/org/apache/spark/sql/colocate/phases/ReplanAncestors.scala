package org.apache.spark.sql.colocate.phases

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.rules.RerunEnsureRequirements
import org.apache.spark.sql.colocate.rules.join.JoinSides
import org.apache.spark.sql.colocate.rules.semantics.MarkRepartitioned
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.ValidateRequirements

/**
 * Matches: a plan in which a rule changed the partitioning of a join.
 * Produces: the plan after EnsureRequirements has run again, because the operators above the join were planned for the
 * old partitioning.
 * Not when: that needs more Exchanges than the plan had, or a user's `repartition` was dropped because of the old
 * partitioning.
 */
private[colocate] case class ReplanAncestors(rule: Rule[SparkPlan]) extends Rule[SparkPlan] {

  override val ruleName: String = rule.ruleName

  override def apply(plan: SparkPlan): SparkPlan = {
    val changed = rule(plan)
    if ((changed eq plan) || MarkRepartitioned.isDropped(plan)) plan
    else {
      val ensured = if (ValidateRequirements.validate(changed)) changed else RerunEnsureRequirements(changed)
      if (JoinSides.exchanges(ensured) <= JoinSides.exchanges(plan)) ensured else plan
    }
  }
}
