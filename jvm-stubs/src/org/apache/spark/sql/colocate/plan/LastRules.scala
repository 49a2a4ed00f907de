package org.apache.spark.sql.colocate.plan

import org.apache.spark.sql.colocate.plan.aggregate.AggregateRuns
import org.apache.spark.sql.colocate.plan.join.FuseHashJoins
import org.apache.spark.sql.colocate.plan.scan.CheckWhileReading
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}

/** What every plan goes through last, after its columnar transitions: operators of our own in the place of Spark's. */
object LastRules {

  val inOrder: Seq[ColumnarRule] = Seq(DropPlanningNodes, AggregateRuns, FuseHashJoins, CheckWhileReading)

  /** For a part that Spark's hooks will not reach, such as one in an expression. */
  def on(part: SparkPlan): SparkPlan = inOrder.foldLeft(part)((plan, rule) => rule.postColumnarTransitions(plan))
}
