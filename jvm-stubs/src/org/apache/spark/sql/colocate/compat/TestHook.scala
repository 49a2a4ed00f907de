package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.colocate.Services
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.internal.SQLConf

/** What a test does in the driver. */
private[colocate] trait TestHook {

  /** Before a rule that gives no physical plan: fails, or does nothing. */
  def before(rule: String): Unit

  /**
   * After a rule of ours: fails, or gives another plan.
   *
   * @param rule its name, as in conf/rules.json
   */
  def after(rule: String, before: SparkPlan, after: SparkPlan): SparkPlan

  /** At the start: shall this private part of Spark or Delta count as missing? */
  def hides(hook: String): Boolean

  /** At the start: shall this rule be left out, as if it had been forgotten? */
  def drops(rule: String): Boolean
}

/**
 * The only hook for tests in the rules. Its implementation is in a jar for tests (jvm-stubs/testing), which is found as
 * a service. The shipped jar has none, and it is called only if `spark.colocate.testing` is set.
 */
private[colocate] object TestHook {

  private lazy val found: Seq[TestHook] =
    Services.of(classOf[TestHook])

  def before(rule: String): Unit = if (isTest) found.foreach(_.before(rule))

  def after(rule: String, before: SparkPlan, after: SparkPlan): SparkPlan =
    if (!isTest) after else found.foldLeft(after)((plan, hook) => hook.after(rule, before, plan))

  def hides(hook: String): Boolean = found.exists(_.hides(hook))

  def drops(rule: String): Boolean = found.exists(_.drops(rule))

  /** Shall a failure of a rule fail the query? */
  def isLoud: Boolean = testing == "true"

  private def isTest: Boolean = isLoud || testing == "quiet"

  private def testing: String = SQLConf.get.getConfString("spark.colocate.testing", "")
}
