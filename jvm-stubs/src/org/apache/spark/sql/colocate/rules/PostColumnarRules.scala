package org.apache.spark.sql.colocate.rules

import org.apache.spark.sql.colocate.rules.aggregate.AggregateRuns
import org.apache.spark.sql.colocate.rules.join.FuseHashJoins
import org.apache.spark.sql.colocate.rules.scan.CheckWhileReading
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}

/** What every plan goes through last, after its columnar transitions: operators of our own in the place of Spark's. */
object PostColumnarRules {

  val inOrder: Seq[ColumnarRule] = Seq(DropPlanningNodes, AggregateRuns, FuseHashJoins, CheckWhileReading)

  /** For a part that Spark's hooks will not reach, such as one in an expression. */
  def on(part: SparkPlan): SparkPlan = inOrder.foldLeft(part)((plan, rule) => rule.postColumnarTransitions(plan))
}
