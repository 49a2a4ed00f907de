package org.apache.spark.sql.colocate.plan

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.bridge.RuleRegistry
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.internal.SQLConf

/**
 * A rewrite that only makes a plan faster must not fail its query: what goes wrong in it is told in the log, and the plan
 * stays as Spark made it, which gives the same rows. Where `spark.colocate.testing` is `true`, the query fails instead,
 * so that no test and no fuzzing passes over it. What a rewrite tells the user, as a file in the wrong bucket, is thrown.
 */
private[colocate] object Rewrite extends Logging {

  /** @param name as conf/rules.json has it, which may switch it off */
  def apply(name: String, plan: SparkPlan)(rewrite: SparkPlan => SparkPlan): SparkPlan =
    if (!RuleRegistry.isActive(name)) plan
    else try rewrite(plan) catch {
      case told: ColocateException => throw told
      case NonFatal(e) if !isTest =>
        logWarning(s"$name failed; the query runs without it. Please report this, with the plan:\n$plan", e)
        plan
    }

  /** For a rewrite that concerns only plans that read buckets. */
  def ofBuckets(name: String, plan: SparkPlan)(rewrite: SparkPlan => SparkPlan): SparkPlan =
    if (plan.exists(_.isInstanceOf[ColocatedScanExec])) apply(name, plan)(rewrite) else plan

  private def isTest: Boolean = SQLConf.get.getConfString("spark.colocate.testing", "") == "true"
}
