package org.apache.spark.sql.colocate.rules.shuffle

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.conf.Settings
import org.apache.spark.sql.colocate.rules.{OnAnyPlan, PlanWalk}
import org.apache.spark.sql.colocate.scan.MemberScans
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.colocate.shuffle.BufferedExchangeExec
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec

/**
 * Matches: each shuffle of a query that reads a bucketed table. Its rows lie by bucket and not by date, so where a
 * query asks for some dates, all tasks have rows for the shuffle, not a few of them, and each opens a file for every
 * partition.
 * Produces: a shuffle in which a task with few rows opens one file.
 * Not when: `spark.colocate.shuffle.bufferBytes` is 0.
 */
object BufferShuffledRows extends Rule[SparkPlan] with OnAnyPlan {

  override val changesLayout = false

  override def apply(plan: SparkPlan): SparkPlan =
    if (!PlanWalk.leaves(plan).exists(MemberScans.isOne) || !isOn) plan
    else plan.transformUp { case exchange: ShuffleExchangeExec => BufferedExchangeExec.of(exchange) }

  private def isOn: Boolean = Settings.joinEnabled(conf) && Settings.number(conf, BufferedExchangeExec.Setting) > 0
}
