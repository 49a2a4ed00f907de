package org.apache.spark.sql.colocate.explain

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, KnownFloatingPointNormalized}
import org.apache.spark.sql.catalyst.optimizer.NormalizeNaNAndZero
import org.apache.spark.sql.colocate.Json
import org.apache.spark.sql.colocate.bridge.GroupState
import org.apache.spark.sql.colocate.compat.TestHook
import org.apache.spark.sql.colocate.partitioning.{ColocatedPartitioning, SpreadPartitioning}
import org.apache.spark.sql.colocate.rules.PlanWalk
import org.apache.spark.sql.colocate.rules.join.JoinSides
import org.apache.spark.sql.colocate.scan.ColocatedScanExec
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.execution.joins.{BaseJoinExec, BroadcastHashJoinExec}
import org.apache.spark.sql.execution.window.WindowExecBase
import org.apache.spark.sql.execution.{FileSourceScanExec, QueryExecution, SparkPlan, UnaryExecNode}

/** Computes the verdicts from a physical plan. This is done only when they are asked for, never during planning. */
object Verdicts {

  def of(plan: SparkPlan): Seq[Verdict] = of(new ExplainedPlan(plan))

  def of(execution: QueryExecution): Seq[Verdict] = of(execution.executedPlan)

  private[explain] def of(shown: ExplainedPlan): Seq[Verdict] = {
    val excluded = new ExcludedRules(shown.plan)
    judged(shown).map { case (node, verdict) =>
      if (verdict.colocated) verdict
      else excluded.lackedBy(node).fold(verdict)(rule => verdict.because(Reason("RULE_EXCLUDED", "rule" -> rule)))
    }
  }

  /** Each operator with its verdict, without a look at the rules that the session excludes. */
  private[explain] def judged(shown: ExplainedPlan): Seq[(SparkPlan, Verdict)] =
    if (shown.readsMembers) shown.nodes.flatMap(node => ofNode(node, shown).map(node -> _)) else Nil

  /** For Python: a JSON array of verdicts. */
  def json(execution: QueryExecution): String = Json.write(of(execution).toList)

  private[explain] def ofNode(node: SparkPlan, shown: ExplainedPlan): Option[Verdict] =
    Option.when(hasVerdict(node))(node).flatMap { operator =>
      NotWorkedOut.orElse(reason => Option(notWorkedOut(operator, reason))) {
        TestHook.before("explain")
        shown.bounded(judge(operator, shown))
      }
    }

  private[explain] def hasVerdict(node: SparkPlan): Boolean = node match {
    case _: BaseJoinExec => true
    case aggregate: BaseAggregateExec => aggregate.requiredChildDistributionExpressions.exists(_.nonEmpty)
    case window: WindowExecBase => window.partitionSpec.nonEmpty
    case _ => false
  }

  private def notWorkedOut(operator: SparkPlan, reason: Reason): Verdict =
    Verdict(
      operator.nodeName,
      colocated = false,
      reason.code,
      s"colocate: not worked out, ${reason.detail}",
      None,
      None,
      None,
      None)

  private def judge(operator: SparkPlan, shown: ExplainedPlan): Option[Verdict] = operator match {
    case join: BaseJoinExec => JoinVerdict.of(join, shown)
    case aggregate: BaseAggregateExec =>
      ofUnary("Aggregate", aggregate, aggregate.requiredChildDistributionExpressions.get, shown)
    case window: WindowExecBase =>
      ofUnary("Window", window, window.partitionSpec, shown)
    case _ => None
  }

  private def ofUnary(name: String, node: SparkPlan, keys: Seq[Expression], shown: ExplainedPlan): Option[Verdict] = {
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

  /** The number of tasks that the rows of a plan are in, if it is known. */
  private[explain] def tasksOf(plan: SparkPlan): Option[Int] = layoutOf(plan).orElse(
    Some(PlanWalk.unwrap(plan).outputPartitioning.numPartitions).filter(_ > 0))

  /**
   * The number of buckets by which the child's rows are partitioned; below a join that SpreadJoins has changed, the
   * number before its buckets were split.
   */
  private def layoutOf(child: SparkPlan): Option[Int] = {
    val partitioning = PlanWalk.unwrap(child).outputPartitioning
    val layout = ColocatedPartitioning.all(partitioning)
      .headOption.orElse(SpreadPartitioning.in(partitioning).map(_.layout))
    layout.map(_.numPartitions).orElse(layoutBelow(child))
  }

  /**
   * Looks below the operators that do not declare the buckets themselves. For example, if one side of a join was
   * shuffled to the buckets of the other and the query keeps only the key of the shuffled side, no bucket partitioning
   * is left in the join's output.
   */
  private def layoutBelow(plan: SparkPlan): Option[Int] = PlanWalk.unwrap(plan) match {
    case _: Exchange => None
    case join: BroadcastHashJoinExec => layoutBelow(JoinSides.streamed(join))
    case join: BaseJoinExec if !InPlace.isBroadcastJoin(join) => join.children.flatMap(layoutOf).headOption
    case unary: UnaryExecNode => layoutBelow(unary.child)
    case _ => None
  }

  /** For EXPLAIN: how many tasks SpreadJoins has made of the buckets, and which buckets it has split. */
  private def spread(child: SparkPlan): Option[String] =
    SpreadPartitioning.in(PlanWalk.unwrap(child).outputPartitioning).map(_.shares.describe)

  /** The member that the keys are columns of, else the first member. */
  private[explain] def feeding(keys: Seq[Expression], members: Seq[Member], shown: ExplainedPlan): Member =
    if (members.size == 1) members.head
    else {
      val origins = keys.flatMap(shown.origin(_).references)
      members.find(m => origins.exists(o => m.output.exists(_.exprId == o.exprId))).getOrElse(members.head)
    }

  private[explain] def colocated(
      operator: String,
      sides: Seq[Side],
      shown: ExplainedPlan,
      right: Option[Member]): Verdict = {
    val plans = sides.map(_.plan)
    // Members below an Exchange are named only if there are no others: their rows were shuffled to others' buckets.
    val (inPlace, below) = (plans.flatMap(shown.membersInPlace), sides.flatMap(_.members))
    val members = if (inPlace.isEmpty) below else inPlace
    val tasks = plans.flatMap(tasksOf).headOption
    val text = (Seq(named(members)) ++ tasks.map(bucketsIn(_, inPlace, plans.flatMap(spread).headOption)) ++
      placement(members) ++ strays(members) ++
      Option.when(members.exists(_.namesTrusted))("file names trusted") ++
      Option.when(!plans.exists(readsByBucket))("by Spark's own bucketing")).mkString(", ")
    val group = members.flatMap(_.group).headOption
    Verdict(
      operator, colocated = true, "COLOCATED", s"colocate: true ($text)", group, tasks,
      below.headOption.map(_.describe), right.map(_.describe))
  }

  /** The numbers of buckets as the tables have them; one task may read several buckets, or a part of one. */
  private def bucketsIn(tasks: Int, inPlace: Seq[Member], spread: Option[String]): String = {
    val numbers = inPlace.flatMap(_.layout).map(_.numbers).distinct
    val buckets = if (numbers.isEmpty) tasks.toString else numbers.mkString(" and ")
    val differ = Option.when(buckets != tasks.toString)(s"$tasks tasks")
    s"$buckets buckets${spread.orElse(differ).fold("")(" in " + _)}"
  }

  private def named(members: Seq[Member]): String = {
    val outside = members.filter(_.group.isEmpty).map(_.table).distinct.mkString(", ")
    members.flatMap(_.group).distinct match {
      case Nil => "no group"
      case groups =>
        val all = s"group${if (groups.size > 1) "s" else ""} ${groups.mkString(", ")}"
        if (outside.isEmpty) all else s"$all, $outside in no group"
    }
  }

  /** Where hosts are lost, rows are right and no shuffle is needed: only the tasks of these buckets run elsewhere. */
  private def placement(members: Seq[Member]): Option[String] = {
    val state = GroupState.current
    val groups = members.flatMap(_.group).distinct.flatMap(state.byName.get).filterNot(_.placementStable)
    Option.when(groups.nonEmpty) {
      val all = groups.map(_.buckets).sum
      (groups.map(state.onLostHosts).sum, groups.map(state.onTooFewHosts).sum) match {
        case (0, 0) => "placement: buckets are moving"
        case (0, few) => s"placement: $few of $all buckets have too few hosts"
        case (lost, _) => s"placement: $lost of $all buckets on lost hosts"
      }
    }
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

  /** The expression that the user wrote, where Spark has replaced it by a generated column (`_w0`). */
  private def asWritten(key: Expression, shown: ExplainedPlan): Expression = key match {
    case a: Attribute if a.name.matches("_w\\d+") || a.name == "_groupingexpression" => shown.origin(a)
    case other => other
  }

  /** The key as SQL, with the table's name or alias before each column that has one. */
  private[explain] def qualified(key: Expression): String =
    sql(key)(_.qualifier.lastOption.filterNot(isGenerated).toSeq)

  /** The key as SQL, without the functions with which Spark normalizes floating point keys. */
  private def sql(key: Expression)(qualifier: Attribute => Seq[String]): String = key.transform {
    case KnownFloatingPointNormalized(NormalizeNaNAndZero(child)) => child
  }.transform { case a: Attribute => a.withQualifier(qualifier(a)) }.sql

  /** Is it the alias that Spark generates for a subquery without an alias? */
  private def isGenerated(qualifier: String): Boolean = qualifier.startsWith("__")
}
