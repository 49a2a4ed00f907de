package org.apache.spark.sql.colocate.explain

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, KnownFloatingPointNormalized}
import org.apache.spark.sql.catalyst.optimizer.NormalizeNaNAndZero
import org.apache.spark.sql.colocate.conf.Json
import org.apache.spark.sql.colocate.partitioning.{ColocatedPartitioning, SpreadPartitioning}
import org.apache.spark.sql.colocate.rules.PlanWalk
import org.apache.spark.sql.colocate.rules.join.JoinSides
import org.apache.spark.sql.colocate.scan.ColocatedScanExec
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.execution.joins.{BaseJoinExec, BroadcastHashJoinExec}
import org.apache.spark.sql.execution.window.WindowExecBase
import org.apache.spark.sql.execution.{FileSourceScanExec, QueryExecution, SparkPlan, UnaryExecNode}

/** The verdicts of a plan: a pure function of it, computed on demand, so it costs nothing in planning. */
object Verdicts {

  def of(plan: SparkPlan): Seq[Verdict] = of(new Shown(plan))

  def of(execution: QueryExecution): Seq[Verdict] = of(execution.executedPlan)

  private[explain] def of(shown: Shown): Seq[Verdict] =
    if (shown.readsMembers) shown.nodes.flatMap(ofNode(_, shown)) else Nil

  /** For Python: a JSON array of verdicts. */
  def json(execution: QueryExecution): String = Json.write(of(execution).toList)

  private def ofNode(node: SparkPlan, shown: Shown): Option[Verdict] = node match {
    case join: BaseJoinExec => JoinVerdict.of(join, shown)
    case aggregate: BaseAggregateExec if aggregate.requiredChildDistributionExpressions.exists(_.nonEmpty) =>
      ofUnary("Aggregate", aggregate, aggregate.requiredChildDistributionExpressions.get, shown)
    case window: WindowExecBase if window.partitionSpec.nonEmpty =>
      ofUnary("Window", window, window.partitionSpec, shown)
    case _ => None
  }

  private def ofUnary(name: String, node: SparkPlan, keys: Seq[Expression], shown: Shown): Option[Verdict] = {
    val child = node.children.head
    val members = shown.members(child)
    Option.when(members.nonEmpty) {
      val written = keys.map(asWritten(_, shown))
      val operator = s"$name by ${columns(written)}"
      if (InPlace(child)) colocated(operator, Seq(Side(keys, child, members, None, isInPlace = true)), shown, None)
      else {
        val member = feeding(keys, members, shown)
        refused(operator, shown.blame(KeyReasons.unary(member, written, child, shown)), Some(member), None)
      }
    }
  }

  /** In how many tasks the rows of a plan lie, if it is known. */
  private[explain] def tasksOf(plan: SparkPlan): Option[Int] = layoutOf(plan).orElse(
    Some(PlanWalk.unwrap(plan).outputPartitioning.numPartitions).filter(_ > 0))

  /**
   * How many buckets reach an operator through this child; for a spread join the count before its buckets were split.
   */
  private def layoutOf(child: SparkPlan): Option[Int] = {
    val partitioning = PlanWalk.unwrap(child).outputPartitioning
    val layout = ColocatedPartitioning.all(partitioning)
      .headOption.orElse(SpreadPartitioning.in(partitioning).map(_.layout))
    layout.map(_.numPartitions).orElse(layoutBelow(child))
  }

  /** Of a join whose one side was shuffled to the other's buckets, the shuffled side's key may be all that is left. */
  private def layoutBelow(plan: SparkPlan): Option[Int] = PlanWalk.unwrap(plan) match {
    case _: Exchange => None
    case join: BroadcastHashJoinExec => layoutBelow(JoinSides.streamed(join))
    case join: BaseJoinExec if !InPlace.isBroadcastJoin(join) => join.children.flatMap(layoutOf).headOption
    case unary: UnaryExecNode => layoutBelow(unary.child)
    case _ => None
  }

  /** How a spread join below assigned buckets to tasks, in words. */
  private def spread(child: SparkPlan): Option[String] =
    SpreadPartitioning.in(PlanWalk.unwrap(child).outputPartitioning).map(_.shares.describe)

  /** The member whose columns the keys come from, else the first one. */
  private[explain] def feeding(keys: Seq[Expression], members: Seq[Member], shown: Shown): Member =
    if (members.size == 1) members.head
    else {
      val origins = keys.flatMap(shown.origin(_).references)
      members.find(m => origins.exists(o => m.output.exists(_.exprId == o.exprId))).getOrElse(members.head)
    }

  private[explain] def colocated(operator: String, sides: Seq[Side], shown: Shown, right: Option[Member]): Verdict = {
    val plans = sides.map(_.plan)
    // Rows of other members below were shuffled to theirs.
    val (inPlace, below) = (plans.flatMap(shown.membersInPlace), sides.flatMap(_.members))
    val members = if (inPlace.isEmpty) below else inPlace
    val buckets = plans.flatMap(tasksOf).headOption
    val text = (Seq(named(members)) ++
      buckets.map(n => s"$n buckets${plans.flatMap(spread).headOption.fold("")(" in " + _)}") ++
      strays(members) ++ Option.when(members.exists(_.namesTrusted))("file names trusted") ++
      Option.when(!plans.exists(readsByBucket))("by Spark's own bucketing")).mkString(", ")
    val group = members.flatMap(_.group).headOption
    Verdict(
      operator, colocated = true, "COLOCATED", s"colocate: true ($text)", group, buckets,
      below.headOption.map(_.describe), right.map(_.describe))
  }

  private def named(members: Seq[Member]): String = members.flatMap(_.group).distinct match {
    case Nil => "no group"
    case Seq(one) => s"group $one"
    case several => s"groups ${several.mkString(", ")}"
  }

  private def strays(members: Seq[Member]): Option[String] = members.map(_.strays).sum match {
    case 0 => None
    case 1 => Some("1 stray shuffled")
    case n => Some(s"$n strays shuffled")
  }

  private def readsByBucket(plan: SparkPlan): Boolean =
    !InPlace.leaves(plan).exists(_.isInstanceOf[FileSourceScanExec]) ||
      InPlace.leaves(plan).exists(_.isInstanceOf[ColocatedScanExec])

  private[explain] def refused(
      operator: String,
      reason: Reason,
      left: Option[Member],
      right: Option[Member]): Verdict = {
    val group = (left ++ right).flatMap(_.group).headOption
    Verdict(
      operator,
      colocated = false,
      reason.code,
      reason.text,
      group,
      None,
      left.map(_.describe),
      right.map(_.describe))
  }

  private[explain] def columns(keys: Seq[Expression]): String = keys.map(column).mkString("(", ", ", ")")

  private[explain] def column(key: Expression): String = key match {
    case a: Attribute => a.name
    case other => sql(other)(_ => Nil)
  }

  /** Spark gives an expression of PARTITION BY or GROUP BY a name of its own. */
  private def asWritten(key: Expression, shown: Shown): Expression = key match {
    case a: Attribute if a.name.matches("_w\\d+") || a.name == "_groupingexpression" => shown.origin(a)
    case other => other
  }

  /** With the table's name or alias before each column, as far as the query has one. */
  private[explain] def qualified(key: Expression): String =
    sql(key)(_.qualifier.lastOption.filterNot(isGenerated).toSeq)

  /** As the user may have written it: Spark puts its own functions around a floating point key. */
  private def sql(key: Expression)(qualifier: Attribute => Seq[String]): String = key.transform {
    case KnownFloatingPointNormalized(NormalizeNaNAndZero(child)) => child
  }.transform { case a: Attribute => a.withQualifier(qualifier(a)) }.sql

  /** Spark's own alias of a subquery that the user gave none. */
  private def isGenerated(qualifier: String): Boolean = qualifier.startsWith("__")
}
