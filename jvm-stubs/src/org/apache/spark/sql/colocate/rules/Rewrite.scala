package org.apache.spark.sql.colocate.rules

import scala.util.control.NonFatal

import org.apache.spark.SparkException
import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.{SparkSession, Strategy}
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.compat.TestHook
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.ValidateRequirements

/**
 * Runs a rule and catches its failure: if it throws or makes an invalid plan, the query runs without this rule, but
 * with all others. The log has the error, and EXPLAIN names the rule (INTERNAL_ERROR). If the rule is only for speed,
 * the plan stays as it was before it, which gives the same rows. If right rows need the rule, no table of the query is
 * read by bucket; where that is not possible, the query fails.
 *
 * Errors that are meant for the user, such as a file in the wrong bucket, are not caught. If `spark.colocate.testing`
 * is `true`, nothing is caught, so that tests fail; `quiet` is for tests of what users get.
 */
private[colocate] object Rewrite extends Logging {

  /**
   * A rule for speed. name: its name in conf/rules.json. isValid: must hold for the new plan if the rule changed it.
   */
  def apply(name: String, plan: SparkPlan, isValid: SparkPlan => Boolean = _ => true)(
      rewrite: SparkPlan => SparkPlan): SparkPlan =
    whereActive(name, plan) {
      guard(name)(validated(name, plan, isValid)(TestHook.after(name, plan, rewrite(plan)))) { _ =>
        FailedRules.mark(plan, name)
      }
    }

  /** A rule for speed that runs only if the plan has a scan by buckets. */
  def ofBuckets(name: String, plan: SparkPlan)(rewrite: SparkPlan => SparkPlan): SparkPlan =
    if (plan.exists(_.isInstanceOf[ReadsBuckets])) apply(name, plan)(rewrite) else plan

  /**
   * A rule that right rows need.
   *
   * @param untuned the plan before any rule for speed relied on its buckets; used if the rule fails
   */
  def forRows(name: String, plan: SparkPlan, untuned: SparkPlan)(rewrite: SparkPlan => SparkPlan): SparkPlan =
    whereActive(name, plan) {
      guard(name)(TestHook.after(name, plan, rewrite(plan)))(withoutBuckets(name, untuned, _))
    }

  /**
   * A planning strategy. If it fails, the session's other strategies plan the query.
   *
   * @param secure changes their plan so that it gives right rows
   */
  def strategy(
      name: String, session: SparkSession, own: Strategy, plan: LogicalPlan, secure: SparkPlan => SparkPlan = identity)(
      planned: => Seq[SparkPlan]): Seq[SparkPlan] =
    guard(name) { TestHook.before(name); planned } { _ =>
      OtherStrategies.plan(session, own, plan).map(secure).map(FailedRules.markUnbucketed(_, name))
    }

  /** Any other step that only makes a query faster. without: its result if it fails. */
  def orElse[A](name: String, without: => A)(attempt: => A): A =
    guard(name) { TestHook.before(name); attempt }(_ => without)

  private def whereActive(name: String, plan: SparkPlan)(rewritten: => SparkPlan): SparkPlan =
    if (RuleTable.isActive(name)) rewritten else plan

  private def guard[A](name: String)(attempt: => A)(without: Throwable => A): A = try attempt catch {
    case e @ (NonFatal(_) | _: LinkageError) if !TestHook.isLoud && !isMeant(e) =>
      // Before the warning: if this throws too, the rule was not the cause, and the warning would be wrong.
      val instead = without(e)
      logWarning(s"The rule $name failed; the query runs without it. Please report this, with the plan:\n$instead", e)
      instead
  }

  private def validated(name: String, plan: SparkPlan, isValid: SparkPlan => Boolean)(made: SparkPlan): SparkPlan =
    if ((made eq plan) || isValid(made)) made
    else throw SparkException.internalError(s"The plan that $name made lacks what its operators ask for:\n$made")

  private def withoutBuckets(name: String, plan: SparkPlan, error: Throwable): SparkPlan = {
    val read = RerunEnsureRequirements.after(plan)(_.transformUp { case scan: ReadsBuckets =>
      FailedRules.markUnbucketed(scan.asWithoutLayout, name)
    })
    if ((read eq plan) || !ValidateRequirements.validate(read)) throw error
    FailedRules.mark(read, name)
  }

  /** Is the error meant for the user, or caused by the user's stopping the query? */
  private def isMeant(error: Throwable): Boolean =
    Thread.currentThread().isInterrupted ||
      Iterator.iterate(error)(_.getCause).takeWhile(_ != null).exists(_.isInstanceOf[ColocateException])
}
