package org.apache.spark.sql.colocate.explain

import java.util.IdentityHashMap

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.colocate.rules.{FailedRules, PlanWalk, RuleTable}
import org.apache.spark.sql.execution.SparkPlan

/** A plan whose verdicts are computed. Each scan is examined once, however many operators are above it. */
private[explain] final class Shown(plan: SparkPlan) {

  private val known = new IdentityHashMap[SparkPlan, Option[Member]]

  val nodes: Seq[SparkPlan] = PlanWalk.shown(plan)

  private lazy val definitions = PlanWalk.definitions(plan)

  /** A key over the tables' own columns. */
  def origin(key: Expression): Expression = PlanWalk.origin(key, definitions)

  lazy val failed: Seq[String] = FailedRules.in(nodes)

  private lazy val excluded: Seq[String] = FailedRules.excludedIn(nodes)

  def readsMembers: Boolean = nodes.exists(node => node.children.isEmpty && member(node).isDefined)

  /** Every member under a plan, exchanges and finished stages included. */
  def members(under: SparkPlan): Seq[Member] = PlanWalk.leaves(under).flatMap(member(_))

  /** Those whose rows come without an Exchange. */
  def membersInPlace(under: SparkPlan): Seq[Member] = InPlace.leaves(under).flatMap(member(_))

  /** The reason for an Exchange, unless a rule failed or is excluded that might have removed it. */
  def blame(reason: Reason): Reason =
    if (!Shown.fromLayout(reason.code)) Shown.excludedStrategy(reason).fold(reason)(Shown.exclusion)
    else failed.find(FailedRules.mayLeaveExchange).map(Shown.failure).orElse(excluded.headOption.map(Shown.exclusion))
      .getOrElse(reason)

  private def member(leaf: SparkPlan): Option[Member] = {
    if (!known.containsKey(leaf)) known.put(leaf, Member.of(leaf))
    known.get(leaf)
  }
}

private[explain] object Shown {

  // Keys that do not fit are a reason of their own, even if a rule failed.
  private val fromLayout = Set("REDISTRIBUTED", "BUCKETS_DIFFER", "OTHER_SIDE_SHUFFLED", "OTHER_NOT_MEMBER")

  def exclusion(rule: String): Reason = Reason("RULE_EXCLUDED", "rule" -> rule)

  /** The excluded strategy that would have kept the layout at the operator that lost it. */
  def excludedStrategy(reason: Reason): Option[String] = (reason.code match {
    case "KEY_NULL_EXTENDED" if reason.args.get("join").contains("FullOuter") => Some("PlanFullOuterJoins")
    case "LAYOUT_LOST" if reason.args.get("operator").contains("Expand") => Some("PlanExpands")
    case _ => None
  }).filter(RuleTable.isExcluded)

  def failure(rule: String): Reason = Reason(
    "INTERNAL_ERROR",
    "rule" -> rule,
    "switch" -> RuleTable.switchOf(rule).getOrElse("SET disable_colocate_join = true"))
}
