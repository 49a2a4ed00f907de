package org.apache.spark.sql.colocate.plan

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}
import org.apache.spark.sql.execution.colocate.PassesRows

/** A node that asks or tells something while the plan is made, and is gone when the query runs. */
trait PlanningNode extends PassesRows

object DropPlanningNodes extends ColumnarRule {
  override def postColumnarTransitions: Rule[SparkPlan] = _.transformUp { case node: PlanningNode => node.child }
}
