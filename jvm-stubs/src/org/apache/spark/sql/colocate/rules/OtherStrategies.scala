package org.apache.spark.sql.colocate.rules

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.{SparkSession, Strategy}
import org.apache.spark.sql.execution.SparkPlan

/** For a strategy that changes the plan of other strategies: Spark's, Delta's, and those of other extensions. */
private[colocate] object OtherStrategies {

  /** The first plan that a strategy of another class than `own` has for `plan`. */
  def plan(session: SparkSession, own: Strategy, plan: LogicalPlan): Seq[SparkPlan] =
    session.sessionState.planner.strategies.iterator
      .filterNot(_.getClass == own.getClass)
      .flatMap(_(plan))
      .take(1)
      .toSeq
}
