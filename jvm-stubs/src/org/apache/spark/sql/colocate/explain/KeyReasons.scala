package org.apache.spark.sql.colocate.explain

import org.apache.spark.sql.catalyst.expressions.{Attribute, ExprId, Expression}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.layout.Evidence
import org.apache.spark.sql.colocate.partitioning.NullSafeKey
import org.apache.spark.sql.colocate.rules.PlanWalk
import org.apache.spark.sql.colocate.rules.aggregate.{ShareAggregates, ShuffleUnevenAggregates}
import org.apache.spark.sql.colocate.rules.join.UnevenBuckets
import org.apache.spark.sql.colocate.rules.semantics.KeepTaskDependentValues
import org.apache.spark.sql.colocate.scan.ColocatedScanExec
import org.apache.spark.sql.execution.{FileSourceScanExec, SparkPlan}

/** Why a join, an aggregate or a window that reads a member has an Exchange. */
private[explain] object KeyReasons {

  def unary(member: Member, keys: Seq[Expression], child: SparkPlan, shown: ExplainedPlan): Reason =
    member.gap
      .map(g => Reason(g.code, g.args))
      .orElse(uncovered(member, keys, child, shown))
      .orElse(taskDependent(member, child))
      .orElse(uneven(member, child))
      .getOrElse(redistributed(member, child))

  def join(left: Side, right: Side, shown: ExplainedPlan): Reason = {
    val shuffled = Seq(left, right).filterNot(_.isInPlace)
    val broken = shuffled.flatMap(side => side.member.flatMap(uncovered(_, side.keys, side.plan, shown))).headOption
    def dependent = shuffled.flatMap(side => side.member.flatMap(taskDependent(_, side.plan))).headOption
    broken.orElse(dependent).getOrElse((left.member, right.member) match {
      case (Some(a), Some(b)) => between(a, b, left, right, shown)
      case (Some(a), None) => oneSided(a, left)
      case (None, Some(b)) => oneSided(b, right)
      case (None, None) => throw new IllegalStateException("a join without a member has no verdict")
    })
  }

  /** A bucket key of the member is missing among the operator's keys, or is only used inside an expression. */
  private def uncovered(member: Member, keys: Seq[Expression], plan: SparkPlan, shown: ExplainedPlan): Option[Reason] =
    member.layout.flatMap { layout =>
      val origins = keys.map(shown.origin)
      val plain = origins.collect { case a: Attribute => a.exprId }.toSet
      val missing = layout.keys.filterNot { k =>
        member.output.exists(a => a.name == k && (plain(a.exprId) || NullSafeKey.in(origins, a).isDefined))
      }
      missing.headOption.map { key =>
        val inside = origins.find(o => !o.isInstanceOf[Attribute] && reads(o, member, key))
        inside match {
          case Some(expression) =>
            val shown = Verdicts.column(expression)
            Reason("KEY_TRANSFORMED", "key" -> key, "table" -> member.table, "expression" -> shown)
          case None =>
            newColumns(member, plain, plan).getOrElse(Reason(
              "KEYS_NOT_COVERED",
              "keys" -> layout.keys.mkString(", "),
              "table" -> member.table,
              "used" -> keys.zip(origins).map { case (key, origin) => usedColumn(key, origin) }.mkString(", "),
              "missing" -> missing.mkString(", ")))
        }
      }
    }

  /** An operator that makes all columns anew, such as mapInPandas, may give them the names of the table's. */
  private def newColumns(member: Member, used: Set[ExprId], plan: SparkPlan): Option[Reason] =
    if (member.output.exists(column => used(column.exprId))) None else LostLayout.reason(member, plan)

  /** A column is shown by its name in the table, not by its alias in the query. */
  private def usedColumn(key: Expression, origin: Expression): String = origin match {
    case column: Attribute => Verdicts.column(column)
    case _ => Verdicts.column(key)
  }

  private def reads(expression: Expression, member: Member, key: String): Boolean =
    expression.references.exists(r => member.output.exists(a => a.name == key && a.exprId == r.exprId))

  private def between(a: Member, b: Member, left: Side, right: Side, shown: ExplainedPlan): Reason = {
    val (la, lb) = (a.layout, b.layout)
    val types = (la ++ lb).map(_.keyTypes).toSeq
    val counts = (la ++ lb).map(_.buckets).toSeq
    if (types.distinct.size > 1) Reason("KEY_TYPES_DIFFER", "left" -> a.describe, "right" -> b.describe)
    else if (counts.distinct.size > 1) Reason("BUCKETS_DIFFER", "left" -> a.describe, "right" -> b.describe)
    else if (positions(a, left, shown) != positions(b, right, shown)) {
      Reason("KEY_POSITIONS", "left" -> a.describe, "right" -> b.describe)
    } else if (left.isInPlace) redistributed(b, right.plan)
    else redistributed(a, left.plan)
  }

  private def positions(member: Member, side: Side, shown: ExplainedPlan): Seq[Int] = {
    val origins = side.keys.map(shown.origin)
    member.keys.map(key => origins.indexWhere { case a: Attribute => a.exprId == key.exprId; case _ => false })
  }

  private def oneSided(member: Member, side: Side): Reason =
    if (!side.isInPlace) Reason("OTHER_NOT_MEMBER", "table" -> member.table)
    else {
      val n = Verdicts.tasksOf(side.plan).getOrElse(member.layout.fold(0)(_.buckets))
      val met = side.members.find(_.layout.exists(_.buckets % n.max(1) == 0)).getOrElse(member)
      Reason("OTHER_SIDE_SHUFFLED", "buckets" -> n.toString, "table" -> met.table)
    }

  /** The member is read by an ordinary scan, because the query has a value that depends on the task of a row. */
  private def taskDependent(member: Member, plan: SparkPlan): Option[Reason] = {
    def readsMember(node: SparkPlan) = PlanWalk.leaves(node).exists(_.output == member.output)
    val dependent = PlanWalk.nodes(plan).filter(readsMember).flatMap(KeepTaskDependentValues.taskDependent).headOption
    dependent.map(by => Reason("TASK_DEPENDENT", "table" -> member.table, "by" -> by))
  }

  /** The member has buckets of very different sizes, so its aggregate is shuffled, see ShuffleUnevenAggregates. */
  private def uneven(member: Member, child: SparkPlan): Option[Reason] = for {
    exchange <- PlanWalk.feedingExchange(child)
    leaf <- ShuffleUnevenAggregates.leafOfFirstStep(exchange.child)
    evidence <- member.evidence if leaf.output == member.output && isUneven(leaf, evidence)
  } yield Reason("UNEVEN_BUCKETS", "table" -> member.table)

  private def isUneven(leaf: SparkPlan, evidence: Evidence): Boolean = leaf match {
    case scan: ColocatedScanExec => UnevenBuckets(SparkSession.active).in(scan)
    case scan: FileSourceScanExec => UnevenBuckets(SparkSession.active).in(scan, evidence)
    case _ => false
  }

  private def redistributed(member: Member, child: SparkPlan): Reason =
    if (PlanWalk.feedingExchange(child).exists(ShareAggregates.isShared))
      Reason("SHARED_AGGREGATE", "table" -> member.table)
    else LostLayout.reason(member, child).getOrElse(
      Reason("REDISTRIBUTED", "table" -> member.table, "keys" -> member.layout.fold("")(_.keys.mkString(", "))))
}
