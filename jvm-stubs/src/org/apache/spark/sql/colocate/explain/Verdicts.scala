package org.apache.spark.sql.colocate.explain

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, KnownFloatingPointNormalized}
import org.apache.spark.sql.catalyst.optimizer.NormalizeNaNAndZero
import org.apache.spark.sql.colocate.Json
import org.apache.spark.sql.colocate.plan.PlanWalk
import org.apache.spark.sql.colocate.plan.join.JoinSides
import org.apache.spark.sql.colocate.plan.partitioning.{ColocatedPartitioning, SpreadPartitioning}
import org.apache.spark.sql.execution.{QueryExecution, SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.execution.joins.{BaseJoinExec, BroadcastHashJoinExec}
import org.apache.spark.sql.execution.window.WindowExecBase

/** The verdicts of a plan: a pure function of it, computed when somebody asks, so planning pays nothing (D16). */
object Verdicts {

  def of(plan: SparkPlan): Seq[Verdict] = PlanWalk.nodes(plan).flatMap(ofNode)

  def of(execution: QueryExecution): Seq[Verdict] = of(execution.executedPlan)

  /** For Python: a JSON array of verdicts. */
  def json(execution: QueryExecution): String = Json.write(of(execution).toList)

  private def ofNode(node: SparkPlan): Option[Verdict] = node match {
    case join: BaseJoinExec => JoinVerdict.of(join)
    case aggregate: BaseAggregateExec if aggregate.requiredChildDistributionExpressions.exists(_.nonEmpty) =>
      val keys = aggregate.requiredChildDistributionExpressions.get
      ofUnary("Aggregate", aggregate, keys)
    case window: WindowExecBase if window.partitionSpec.nonEmpty => ofUnary("Window", window, window.partitionSpec)
    case _ => None
  }

  private def ofUnary(name: String, node: SparkPlan, keys: Seq[Expression]): Option[Verdict] = {
    val child = node.children.head
    val members = Member.under(child)
    val written = keys.map(asWritten(_, child))
    val operator = s"$name by ${columns(written)}"
    Option.when(members.nonEmpty) {
      bucketsAt(child) match {
        case Some(buckets) => colocated(operator, members, buckets, None)
        case None =>
          val member = feeding(keys, child, members)
          refused(operator, KeyReasons.unary(member, written, child), Some(member), None)
      }
    }
  }

  /** How many buckets reach an operator through this child, with no Exchange on the way. */
  private[explain] def bucketsAt(child: SparkPlan): Option[Int] =
    if (PlanWalk.feedingExchange(child).isDefined) None
    else {
      val partitioning = PlanWalk.unwrap(child).outputPartitioning
      val layout = ColocatedPartitioning.all(partitioning).headOption.orElse(SpreadPartitioning.in(partitioning).map(_.layout))
      layout.map(_.numPartitions).orElse(metBelow(child))
    }

  /** Of a join whose one side was shuffled to the other's buckets, the shuffled side's key may be all that is left. */
  private def metBelow(plan: SparkPlan): Option[Int] = PlanWalk.unwrap(plan) match {
    case _: Exchange => None
    case join: BroadcastHashJoinExec => metBelow(JoinSides.streamed(join))
    case join: BaseJoinExec if !JoinVerdict.isBroadcast(join) => join.children.flatMap(bucketsAt).headOption
    case unary: UnaryExecNode => metBelow(unary.child)
    case _ => None
  }

  /** How the buckets below were dealt out to other tasks than their own, in words. */
  private[explain] def spread(child: SparkPlan): Option[String] =
    SpreadPartitioning.in(PlanWalk.unwrap(child).outputPartitioning).map(_.shares.describe)

  /** The member whose columns the keys come from, else the first one. */
  private[explain] def feeding(keys: Seq[Expression], child: SparkPlan, members: Seq[Member]): Member = {
    val origins = keys.flatMap(PlanWalk.origin(_, child).references)
    members.find(m => origins.exists(o => m.output.exists(_.exprId == o.exprId))).getOrElse(members.head)
  }

  private[explain] def colocated(
      operator: String,
      members: Seq[Member],
      buckets: Int,
      right: Option[Member],
      spread: Option[String] = None): Verdict = {
    val groups = members.flatMap(_.group).distinct
    val named = groups match {
      case Nil => "no group"
      case Seq(one) => s"group $one"
      case several => s"groups ${several.mkString(", ")}"
    }
    val strays = members.map(_.strays).sum match {
      case 0 => ""
      case 1 => ", 1 stray shuffled"
      case n => s", $n strays shuffled"
    }
    val trusted = if (members.exists(_.namesTrusted)) ", file names trusted" else ""
    val text = s"colocate: true ($named, $buckets buckets${spread.fold("")(" in " + _)}$strays$trusted)"
    val left = members.headOption.map(_.describe)
    Verdict(operator, colocated = true, "COLOCATED", text, groups.headOption, Some(buckets), left, right.map(_.describe))
  }

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
  private def asWritten(key: Expression, child: SparkPlan): Expression = key match {
    case a: Attribute if a.name.matches("_w\\d+") || a.name == "_groupingexpression" => PlanWalk.origin(a, child)
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
