package org.apache.spark.sql.colocate.plan

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.bridge.RuleRegistry
import org.apache.spark.sql.colocate.plan.scan.ColocatedScanExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.internal.SQLConf

/**
 * A rewrite that only makes a plan faster must not fail its query: what goes wrong in it is told in the log, and the plan
 * stays as Spark made it, which gives the same rows. Where `spark.colocate.testing` is `true`, the query fails instead,
 * so that no test and no fuzzing passes over it; `quiet` tests what users get. What a rewrite tells the user, as a file in
 * the wrong bucket, is thrown.
 */
private[colocate] object Rewrite extends Logging {

  /** @param name which conf/rules.json may switch off */
  def apply(name: String, plan: SparkPlan)(rewrite: SparkPlan => SparkPlan): SparkPlan =
    if (!RuleRegistry.isActive(name)) plan
    else try TestHook.after(name, plan, rewrite(plan)) catch {
      case e @ (NonFatal(_) | _: LinkageError) if !isLoud && !isMeant(e) =>
        logWarning(s"$name failed; the query runs without it. Please report this, with the plan:\n$plan", e)
        plan
    }

  /** For a rewrite that concerns only plans that read buckets. */
  def ofBuckets(name: String, plan: SparkPlan)(rewrite: SparkPlan => SparkPlan): SparkPlan =
    if (plan.exists(_.isInstanceOf[ColocatedScanExec])) apply(name, plan)(rewrite) else plan

  /** For the user, or because the user stopped the query. */
  private def isMeant(error: Throwable): Boolean =
    Thread.currentThread().isInterrupted ||
      Iterator.iterate(error)(_.getCause).takeWhile(_ != null).exists(_.isInstanceOf[ColocateException])

  def isTest: Boolean = isLoud || testing == "quiet"

  private def isLoud: Boolean = testing == "true"

  private def testing: String = SQLConf.get.getConfString("spark.colocate.testing", "")
}
