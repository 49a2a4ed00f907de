package org.apache.spark.sql.colocate.rules

import scala.util.Try
import scala.util.control.NonFatal

import org.apache.spark.SparkException
import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.{SparkSession, Strategy}
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.scan.ColocatedScanExec
import org.apache.spark.sql.colocate.rules.join.JoinSides
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.ValidateRequirements
import org.apache.spark.sql.internal.SQLConf

/**
 * Guards each rule by itself: one that fails, or makes an invalid plan, costs the query that rule and no other. The log
 * has the error, EXPLAIN names the rule (INTERNAL_ERROR). Without a rule for speed the plan stays as it was before it,
 * which gives the same rows. Without one that right rows need, no table is read by its buckets; where that is not
 * possible, the query fails.
 *
 * Where `spark.colocate.testing` is `true`, the query always fails, so that no test passes over it; `quiet` tests what
 * users get. An error that a rule means for the user, such as a file in the wrong bucket, is thrown.
 */
private[colocate] object Rewrite extends Logging {

  /** A rule for speed. name: which conf/rules.json may switch off. isValid: must hold for a changed plan. */
  def apply(name: String, plan: SparkPlan, isValid: SparkPlan => Boolean = _ => true)(
      rewrite: SparkPlan => SparkPlan): SparkPlan =
    whereActive(name, plan) {
      guard(name)(validated(name, plan, isValid)(TestHook.after(name, plan, rewrite(plan)))) { _ =>
        FailedRules.mark(plan, name)
      }
    }

  /** For a rewrite that concerns only plans that read buckets. */
  def ofBuckets(name: String, plan: SparkPlan)(rewrite: SparkPlan => SparkPlan): SparkPlan =
    if (plan.exists(_.isInstanceOf[ColocatedScanExec])) apply(name, plan)(rewrite) else plan

  /**
   * A rule that right rows need.
   *
   * @param untuned the plan before any other rule relied on its buckets
   */
  def forRows(name: String, plan: SparkPlan, untuned: SparkPlan)(rewrite: SparkPlan => SparkPlan): SparkPlan =
    whereActive(name, plan) {
      guard(name)(TestHook.after(name, plan, rewrite(plan)))(withoutBuckets(name, untuned, _))
    }

  /** A planning strategy: the plan of the session's other ones takes its place. secure: makes that one safe. */
  def strategy(
      name: String, session: SparkSession, own: Strategy, plan: LogicalPlan, secure: SparkPlan => SparkPlan = identity)(
      planned: => Seq[SparkPlan]): Seq[SparkPlan] =
    guard(name) { TestHook.before(name); planned } { _ =>
      OtherStrategies.plan(session, own, plan).map(secure).map(FailedRules.markUnbucketed(_, name))
    }

  /** Anything else that only makes a query faster, with what holds where it fails. */
  def orElse[A](name: String, without: => A)(attempt: => A): A =
    guard(name) { TestHook.before(name); attempt }(_ => without)

  private def whereActive(name: String, plan: SparkPlan)(rewritten: => SparkPlan): SparkPlan =
    if (RuleTable.isActive(name)) rewritten
    else if (RuleTable.isExcluded(name) && FailedRules.mayLeaveExchange(name)) markIfMissed(name, plan, rewritten)
    else plan

  /** For EXPLAIN: would the excluded rule have removed an Exchange? */
  private def markIfMissed(name: String, plan: SparkPlan, rewritten: => SparkPlan): SparkPlan = {
    val without = Try(JoinSides.exchanges(rewritten)).toOption
    if (without.exists(_ < JoinSides.exchanges(plan))) FailedRules.markExcluded(plan, name) else plan
  }

  private def guard[A](name: String)(attempt: => A)(without: Throwable => A): A = try attempt catch {
    case e @ (NonFatal(_) | _: LinkageError) if !isLoud && !isMeant(e) =>
      // First, because what fails without the rule too is no fault of the rule's.
      val instead = without(e)
      logWarning(s"The rule $name failed; the query runs without it. Please report this, with the plan:\n$instead", e)
      instead
  }

  private def validated(name: String, plan: SparkPlan, isValid: SparkPlan => Boolean)(made: SparkPlan): SparkPlan =
    if ((made eq plan) || isValid(made)) made
    else throw SparkException.internalError(s"The plan that $name made lacks what its operators ask for:\n$made")

  private def withoutBuckets(name: String, plan: SparkPlan, error: Throwable): SparkPlan = {
    val read = RerunEnsureRequirements.after(plan)(_.transformUp { case scan: ColocatedScanExec =>
      FailedRules.markUnbucketed(scan.asWithoutLayout, name)
    })
    if ((read eq plan) || !ValidateRequirements.validate(read)) throw error
    FailedRules.mark(read, name)
  }

  /** For the user, or because the user stopped the query. */
  private def isMeant(error: Throwable): Boolean =
    Thread.currentThread().isInterrupted ||
      Iterator.iterate(error)(_.getCause).takeWhile(_ != null).exists(_.isInstanceOf[ColocateException])

  def isTest: Boolean = isLoud || testing == "quiet"

  private def isLoud: Boolean = testing == "true"

  private def testing: String = SQLConf.get.getConfString("spark.colocate.testing", "")
}
