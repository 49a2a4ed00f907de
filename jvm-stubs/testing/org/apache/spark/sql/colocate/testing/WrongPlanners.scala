package org.apache.spark.sql.colocate.testing

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.Services
import org.apache.spark.sql.colocate.phases.OptimizeWithoutAqe
import org.apache.spark.sql.colocate.rules.ExtensionOrder
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}

/**
 * Extensions for a session whose planner can be made wrong. Its rules stand around ours:
 * {{{
 *   PlanWrongScans, PlanWrongExpands (strategies) -> WrongPlans -> our rules after EnsureRequirements -> WrongPlans
 *   -> our last operators -> ReadWrongFiles
 * }}}
 * WrongRules works between our rules, WrongRanges and each WrongOptimizer in the optimizer. Each leaves a plan
 * alone while no bug is planted.
 */
class WrongPlanners extends (SparkSessionExtensions => Unit) {

  override def apply(extensions: SparkSessionExtensions): Unit = {
    QuickCodeLengths.install()
    ExtensionOrder.first(extensions) {
      extensions.injectPlannerStrategy(s => PlanWrongScans(s.asInstanceOf[SparkSession]))
      extensions.injectPlannerStrategy(s => PlanWrongExpands(s.asInstanceOf[SparkSession]))
      extensions.injectOptimizerRule(_ => WrongRanges)
      Services.of(classOf[WrongOptimizer]).foreach(rule => extensions.injectOptimizerRule(_ => rule))
      extensions.injectQueryStagePrepRule(_ => WrongPlans)
      extensions.injectColumnar(s => WrongPlansWithoutAqe(s.asInstanceOf[SparkSession]))
      extensions.injectColumnar(_ => ReadWrongFiles) // Spark runs what comes after its transitions backwards
    }
    extensions.injectQueryStagePrepRule(_ => WrongPlans)
    extensions.injectColumnar(s => WrongPlansWithoutAqe(s.asInstanceOf[SparkSession]))
  }
}

/** As OptimizeWithoutAqe, which does not see the plans of AQE a second time. */
case class WrongPlansWithoutAqe(session: SparkSession) extends ColumnarRule {
  private val whole = OptimizeWithoutAqe(session)

  override def preColumnarTransitions: Rule[SparkPlan] = plan => if (whole.isFragment(plan)) plan else WrongPlans(plan)
}
