package org.apache.spark.sql.colocate.explain

import scala.collection.mutable

import org.apache.spark.sql.catalyst.plans.physical.{BroadcastPartitioning, HashPartitioning, SinglePartition}
import org.apache.spark.sql.colocate.rules.PlanWalk
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.execution.joins._

/**
 * A physical plan in the form of Doris' `DESC SELECT`: a fragment for each part between Exchanges, in each a tree whose
 * first child stands below its parent and whose other children are branches.
 */
private[colocate] class DorisPlan(plan: SparkPlan) {

  private val shown = new ExplainedPlan(plan)
  private val roots = visible(plan)
  private val numbers = new java.util.IdentityHashMap[SparkPlan, Int]
  roots.foreach(number)

  private def number(node: SparkPlan): Unit = {
    children(node).foreach(number)
    numbers.putIfAbsent(node, numbers.size)
  }

  /** Exchanges whose own fragment is still to be written. */
  private val pending = mutable.LinkedHashSet.empty[Exchange]

  def lines: Seq[String] = {
    val first = fragment(0, Seq("RESULT SINK"), roots)
    val others = Iterator.from(1).map(n => next().map(exchange => fragment(n, sink(exchange), children(exchange))))
    first ++ others.takeWhile(_.isDefined).flatten.flatten
  }

  private def next(): Option[Exchange] = {
    val exchange = pending.headOption
    exchange.foreach(pending -= _)
    exchange
  }

  private def fragment(n: Int, sink: Seq[String], nodes: Seq[SparkPlan]): Seq[String] =
    Seq(s"PLAN FRAGMENT $n") ++ (sink ++ Seq("") ++ nodes.flatMap(tree)).map(line => s"  $line".stripTrailing) :+ ""

  private def tree(node: SparkPlan): Seq[String] = {
    val below = node match {
      case exchange: Exchange =>
        pending += exchange
        Nil
      case _ => children(node)
    }
    val margin = if (below.isEmpty) "   " else "|  "
    val branches = below.drop(1).reverse.flatMap { child =>
      val lines = tree(child)
      ("|----" + lines.head) +: lines.tail.map("|    " + _) :+ "|"
    }
    (s"${numbers.get(node)}:${title(node)}" +: details(node).map(margin + _)) ++
      below.headOption.map(_ => "|") ++ branches ++ below.headOption.toSeq.flatMap(tree)
  }

  private def children(node: SparkPlan): Seq[SparkPlan] = node.children.flatMap(visible)

  /** Without what only carries rows on. */
  private def visible(node: SparkPlan): Seq[SparkPlan] = PlanWalk.unwrap(node) match {
    case carrier @ (_: ProjectExec | _: ColumnarToRowExec | _: RowToColumnarExec) => children(carrier)
    case other => Seq(other)
  }

  private def title(node: SparkPlan): String = node match {
    case _: SortMergeJoinExec => "MERGE JOIN"
    case _: BroadcastNestedLoopJoinExec => "NESTED LOOP JOIN"
    case _: BaseJoinExec => "HASH JOIN"
    case _: BaseAggregateExec => "AGGREGATE"
    case _: Exchange => "EXCHANGE"
    case _: FileSourceScanLike => "OlapScanNode"
    case other => other.nodeName.toUpperCase
  }

  private def details(node: SparkPlan): Seq[String] = node match {
    case join: BaseJoinExec =>
      val kind = if (InPlace.isBroadcastJoin(join)) " (BROADCAST)" else ""
      Seq(s"join op: ${join.joinType.sql} JOIN$kind", "hash predicates:") ++ verdict(node) ++
        join.leftKeys.zip(join.rightKeys).map { case (l, r) => s"${Verdicts.qualified(l)} = ${Verdicts.qualified(r)}" }
    case aggregate: BaseAggregateExec =>
      verdict(node) :+ s"group by: ${aggregate.groupingExpressions.map(Verdicts.column).mkString(", ")}"
    case scan: FileSourceScanLike =>
      Seq(s"TABLE: ${scan.tableIdentifier.fold(scan.relation.location.rootPaths.mkString(", "))(_.table)}")
    case filter: FilterExec => Seq(s"predicates: ${Verdicts.qualified(filter.condition)}")
    case _ => verdict(node)
  }

  private def verdict(node: SparkPlan): Seq[String] = Verdicts.ofNode(node, shown).map(_.text).toSeq

  private def sink(exchange: Exchange): Seq[String] =
    Seq("STREAM DATA SINK", f"  EXCHANGE ID: ${numbers.get(exchange)}%02d", s"  ${partitions(exchange)}")

  private def partitions(exchange: Exchange): String = exchange.outputPartitioning match {
    case HashPartitioning(keys, _) => s"HASH_PARTITIONED: ${keys.map(Verdicts.qualified).mkString(", ")}"
    case _: BroadcastPartitioning | SinglePartition => "UNPARTITIONED"
    case other => other.getClass.getSimpleName
  }
}
