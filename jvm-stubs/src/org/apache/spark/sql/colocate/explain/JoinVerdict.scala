package org.apache.spark.sql.colocate.explain

import org.apache.spark.sql.catalyst.expressions.{EqualTo, Expression, IsNull, Or}
import org.apache.spark.sql.catalyst.plans.LeftAnti
import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.joins._

/** The verdict of one join. */
private[explain] object JoinVerdict {

  def of(join: BaseJoinExec, shown: ExplainedPlan): Option[Verdict] = {
    val left = Side.of(join.left, join.leftKeys, shown)
    val right = Side.of(join.right, join.rightKeys, shown)
    Option.when(left.member.isDefined || right.member.isDefined)(judge(join, left, right, shown))
  }

  private def judge(join: BaseJoinExec, left: Side, right: Side, shown: ExplainedPlan): Verdict =
    if (left.isInPlace && right.isInPlace && join.leftKeys.nonEmpty && !InPlace.isBroadcastJoin(join)) {
      Verdicts.colocated(name(join), Seq(left, right), shown, right.member)
    } else Verdicts.refused(name(join), shown.blame(reason(join, left, right, shown)), left.member, right.member)

  private def reason(join: BaseJoinExec, left: Side, right: Side, shown: ExplainedPlan): Reason =
    gap(left, right).getOrElse(join match {
      case hash: BroadcastHashJoinExec if hash.isNullAwareAntiJoin => Reason("NULL_AWARE_ANTI_JOIN")
      case loop: BroadcastNestedLoopJoinExec if isNotIn(loop) => Reason("NULL_AWARE_ANTI_JOIN")
      case _ if join.leftKeys.isEmpty => Reason("NO_EQUALITY", "keys" -> bucketKeys(left, right))
      case _: BroadcastHashJoinExec if hasHint(join) => Reason("BROADCAST_HINT")
      case _ if InPlace.isBroadcastJoin(join) => Reason("BROADCAST")
      case _ => KeyReasons.join(left, right, shown)
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

/** One side of a join: its member, if any, and whether its rows reach the join without an Exchange. */
private[explain] case class Side(
    keys: Seq[Expression],
    plan: SparkPlan,
    members: Seq[Member],
    member: Option[Member],
    isInPlace: Boolean)

private[explain] object Side {
  def of(plan: SparkPlan, keys: Seq[Expression], shown: ExplainedPlan): Side = {
    val members = shown.members(plan)
    val member = Option.when(members.nonEmpty)(Verdicts.feeding(keys, members, shown))
    Side(keys, plan, members, member, InPlace(plan))
  }
}
