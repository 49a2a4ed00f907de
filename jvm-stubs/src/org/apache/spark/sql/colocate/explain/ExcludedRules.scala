package org.apache.spark.sql.colocate.explain

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.plans.logical.{Command, LogicalPlan}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.compat.Prepared
import org.apache.spark.sql.colocate.conf.RuleList
import org.apache.spark.sql.colocate.rules.{FailedRules, PlanWalk, RuleTable}
import org.apache.spark.sql.execution.adaptive.{AdaptiveExecutionContext, LogicalQueryStage}
import org.apache.spark.sql.execution.{CommandExecutionMode, SparkPlan}
import org.apache.spark.sql.internal.SQLConf

/**
 * Finds the excluded rules without which an operator would be colocated: the query is planned once more with them, and
 * the two verdicts of the operator are compared. Only EXPLAIN does this, and only in a session that excludes rules.
 *
 * A command is not planned again, nor what adaptive execution plans after its first stages: then no rule is named.
 */
private[explain] final class ExcludedRules(plan: SparkPlan) extends Logging {

  private lazy val excluded: Seq[String] = RuleList.names.filter(RuleTable.isExcluded)

  private lazy val query: Option[LogicalPlan] = PlanWalk.unwrap(plan).logicalLink.filterNot(_.exists {
    case _: Command | _: LogicalQueryStage => true
    case _ => false
  })

  private lazy val helpedByAll: Set[LogicalPlan] = colocatedWith(excluded)

  /** What each rule changes alone. Rules that remove no Exchange by themselves need not be tried. */
  private lazy val helpedBy: Seq[(String, Set[LogicalPlan])] =
    excluded.filter(FailedRules.mayLeaveExchange).map(rule => rule -> colocatedWith(Seq(rule)))

  /** The rules that an operator lacks: those of which one alone is enough, or else all that are excluded. */
  def lackedBy(node: SparkPlan): Option[String] =
    node.logicalLink.filter(operator => excluded.nonEmpty && helpedByAll(operator)).map { operator =>
      val alone = helpedBy.collect { case (rule, helped) if helped(operator) => rule }
      (if (alone.isEmpty) excluded else alone).mkString(", ")
    }

  /** The logical operators that are colocated if `rules` are not excluded. */
  private def colocatedWith(rules: Seq[String]): Set[LogicalPlan] =
    try query.fold(Set.empty[LogicalPlan])(again(_, excluded.diff(rules)))
    catch {
      case e @ (NonFatal(_) | _: LinkageError | _: StackOverflowError) =>
        logDebug(s"The query could not be planned with ${rules.mkString(", ")}", e)
        Set.empty
    }

  private def again(query: LogicalPlan, stillExcluded: Seq[String]): Set[LogicalPlan] = {
    val session = SparkSession.active
    val conf = SQLConf.get.clone()
    conf.setConfString(RuleList.Excluded, stillExcluded.mkString(","))
    SQLConf.withExistingConf(conf) {
      val unused = session.sessionState.executePlan(query, CommandExecutionMode.SKIP)
      val planned = Prepared.of(session, query, AdaptiveExecutionContext(session, unused))
      val (colocated, others) = Verdicts.judged(new ExplainedPlan(planned)).partition(_._2.colocated)
      operators(colocated) -- operators(others)
    }
  }

  private def operators(judged: Seq[(SparkPlan, Verdict)]): Set[LogicalPlan] =
    judged.flatMap { case (node, _) => node.logicalLink }.toSet
}
