package org.apache.spark.sql.colocate.explain

import java.util.IdentityHashMap

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.colocate.conf.RuleList
import org.apache.spark.sql.colocate.rules.{FailedRules, PlanWalk}
import org.apache.spark.sql.execution.SparkPlan

/** The plan that EXPLAIN shows. Each scan is examined only once, also if several operators above it have verdicts. */
private[explain] final class ExplainedPlan(val plan: SparkPlan) {

  private val known = new IdentityHashMap[SparkPlan, Option[Member]]

  val nodes: Seq[SparkPlan] = PlanWalk.shown(plan)

  private lazy val origins = new Origins(PlanWalk.definitions(plan))

  /** The expression that a key stands for, in terms of the scans' columns. */
  def origin(key: Expression): Expression = origins.of(key)

  /** Each verdict looks at the nodes below its operator, so a plan of many operators is not looked at. */
  private lazy val isTooLarge: Boolean = {
    val most = NotWorkedOut.MostSteps / nodes.count(Verdicts.hasVerdict).max(1)
    PlanWalk.size(plan, most) >= most
  }

  def bounded[A](verdict: => A): A =
    if (isTooLarge) throw new NotWorkedOut("the plan has too many operators") else verdict

  lazy val failed: Seq[String] = FailedRules.in(nodes)

  def readsMembers: Boolean = nodes.exists(node => node.children.isEmpty && member(node).isDefined)

  /** All members below a node, also those below Exchanges and in finished query stages. */
  def members(under: SparkPlan): Seq[Member] = PlanWalk.leaves(under).flatMap(member(_))

  /** The members below a node whose rows reach it without an Exchange. */
  def membersInPlace(under: SparkPlan): Seq[Member] = InPlace.leaves(under).flatMap(member(_))

  /** `reason`; but if a rule that might have removed the Exchange has failed, that is the reason. */
  def blame(reason: Reason): Reason =
    if (!ExplainedPlan.fromLayout(reason.code)) reason
    else failed.find(FailedRules.mayLeaveExchange).map(ExplainedPlan.failure).getOrElse(reason)

  private def member(leaf: SparkPlan): Option[Member] = {
    if (!known.containsKey(leaf)) known.put(leaf, Member.of(leaf))
    known.get(leaf)
  }
}

private[explain] object ExplainedPlan {

  // Other reasons, such as keys that do not fit, stay the reason even if a rule has failed.
  private val fromLayout = Set("REDISTRIBUTED", "BUCKETS_DIFFER", "OTHER_SIDE_SHUFFLED", "OTHER_NOT_MEMBER")

  def failure(rule: String): Reason = Reason(
    "INTERNAL_ERROR",
    "rule" -> rule,
    "switch" -> RuleList.switchOf(rule).getOrElse("SET disable_colocate_join = true"))
}
