package org.apache.spark.sql.colocate.rules

import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}

/** The rules of the phase `columnar`, for a plan to which Spark will not apply them, such as one in an expression. */
private[colocate] object ColumnarRules {

  @volatile private var all: Seq[ColumnarRule] = Nil

  /** Called once, with the rules that are injected. */
  def keep(injected: Seq[ColumnarRule]): Seq[ColumnarRule] = {
    all = injected
    injected
  }

  def finish(part: SparkPlan): SparkPlan = all.foldLeft(part)((plan, rule) => rule.postColumnarTransitions(plan))
}
