package org.apache.spark.sql.colocate.rules.shuffle

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.conf.Settings
import org.apache.spark.sql.colocate.rules.{PlanWalk, Rewrite}
import org.apache.spark.sql.colocate.scan.MemberScans
import org.apache.spark.sql.execution.colocate.shuffle.BufferedExchangeExec
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}

/**
 * Rows that lie by bucket do not lie by date any more: where a query asks for some dates, all tasks of the scan have rows for
 * the shuffle, not a few of them, and each opens a file for every partition. So in a query that reads a table of
 * ours, a task with few rows opens one.
 */
object BufferShuffledRows extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan =
    if (!PlanWalk.leaves(plan).exists(MemberScans.isOne) || !isActive) plan
    else Rewrite("BufferShuffledRows", plan)(_.transformUp {
      case exchange: ShuffleExchangeExec => BufferedExchangeExec.of(exchange)
    })

  private def isActive: Boolean =
    Settings.joinEnabled(conf) && Settings.number(conf, BufferedExchangeExec.Setting) > 0
}

/** The same rule without AQE. */
object BufferWithoutAqe extends ColumnarRule {
  override def preColumnarTransitions: Rule[SparkPlan] = BufferShuffledRows
}
