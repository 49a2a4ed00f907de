package org.apache.spark.sql.colocate.explain

import org.apache.spark.sql.catalyst.expressions.{EqualTo, Expression, IsNull, Or}
import org.apache.spark.sql.catalyst.plans.LeftAnti
import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.sql.colocate.plan.PlanWalk
import org.apache.spark.sql.execution.joins._

/** The verdict of one join. */
private[explain] object JoinVerdict {

  def of(join: BaseJoinExec): Option[Verdict] = {
    val left = Side.of(join.left, join.leftKeys, isFreed(join))
    val right = Side.of(join.right, join.rightKeys, isFreed(join))
    Option.when(left.member.isDefined || right.member.isDefined)(judge(join, left, right))
  }

  /** A join that asks for nothing, because its rows were proven to meet within their tasks. */
  private def isFreed(join: BaseJoinExec): Boolean = join match {
    case shuffled: ShuffledJoin => shuffled.isSkewJoin
    case _ => false
  }

  private def judge(join: BaseJoinExec, left: Side, right: Side): Verdict =
    if (left.isLocal && right.isLocal && join.leftKeys.nonEmpty && !isBroadcast(join)) {
      val spread = Verdicts.spread(join.left)
      Verdicts.colocated(name(join), left.members ++ right.members, left.buckets.get, right.member, spread)
    } else Verdicts.refused(name(join), reason(join, left, right), left.member, right.member)

  def isBroadcast(join: BaseJoinExec): Boolean = join match {
    case _: BroadcastHashJoinExec | _: BroadcastNestedLoopJoinExec => true
    case _ => false
  }

  private def reason(join: BaseJoinExec, left: Side, right: Side): Reason =
    gap(left, right).getOrElse(join match {
      case hash: BroadcastHashJoinExec if hash.isNullAwareAntiJoin => Reason("NULL_AWARE_ANTI_JOIN")
      case loop: BroadcastNestedLoopJoinExec if isNotIn(loop) => Reason("NULL_AWARE_ANTI_JOIN")
      case _ if join.leftKeys.isEmpty => Reason("NO_EQUALITY", "keys" -> bucketKeys(left, right))
      case _: BroadcastHashJoinExec if hasHint(join) => Reason("BROADCAST_HINT")
      case _ if isBroadcast(join) => Reason("BROADCAST")
      case _ => KeyReasons.join(left, right)
    })

  private def isNotIn(join: BroadcastNestedLoopJoinExec): Boolean = join.joinType == LeftAnti && join.condition.exists {
    case Or(equal: EqualTo, IsNull(again)) => equal.semanticEquals(again)
    case _ => false
  }

  private def gap(left: Side, right: Side): Option[Reason] =
    (left.member ++ right.member).flatMap(_.gap).headOption.map(g => Reason(g.code, g.args))

  private def bucketKeys(left: Side, right: Side): String =
    (left.member ++ right.member).flatMap(_.layout).headOption.fold("")(_.keys.mkString(", "))

  private def hasHint(join: BaseJoinExec): Boolean = join.logicalLink.exists {
    case logical: Join => Seq(logical.hint.leftHint, logical.hint.rightHint).flatten.exists(_.strategy.isDefined)
    case _ => false
  }

  private def name(join: BaseJoinExec): String = {
    val kind = join.getClass.getSimpleName.stripSuffix("Exec")
    val keys = join.leftKeys.zip(join.rightKeys).map { case (left, right) => equality(left, right) }
    s"$kind ${join.joinType} on (${keys.mkString(", ")})"
  }

  /** Columns by their names alone, but where both sides have the same one: `a.k = b.k`. */
  private def equality(left: Expression, right: Expression): String = {
    val (l, r) = (Verdicts.column(left), Verdicts.column(right))
    if (l == r) s"${Verdicts.qualified(left)} = ${Verdicts.qualified(right)}" else s"$l = $r"
  }
}

/** One side of a join: its member, if any, and whether the layout reaches the join without an Exchange. */
private[explain] case class Side(
    keys: Seq[Expression],
    plan: org.apache.spark.sql.execution.SparkPlan,
    members: Seq[Member],
    member: Option[Member],
    buckets: Option[Int]) {
  def isLocal: Boolean = buckets.isDefined
}

private[explain] object Side {
  def of(plan: org.apache.spark.sql.execution.SparkPlan, keys: Seq[Expression], freed: Boolean): Side = {
    val members = Member.under(plan)
    val member = Option.when(members.nonEmpty)(Verdicts.feeding(keys, plan, members))
    val tasks = Option.when(freed && PlanWalk.feedingExchange(plan).isEmpty)(plan.outputPartitioning.numPartitions)
    Side(keys, plan, members, member, Verdicts.bucketsAt(plan).orElse(tasks))
  }
}
