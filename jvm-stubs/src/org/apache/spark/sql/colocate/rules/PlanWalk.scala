package org.apache.spark.sql.colocate.rules

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression, ExprId}
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.adaptive.{AdaptiveSparkPlanExec, AQEShuffleReadExec, QueryStageExec}
import org.apache.spark.sql.execution.colocate.ValuesOfBuildSide
import org.apache.spark.sql.execution.exchange.{Exchange, ReusedExchangeExec}
import org.apache.spark.sql.execution.joins.colocate.JoinInputExec
import org.apache.spark.sql.execution.python.EvalPythonExec

/** Walks a physical plan, through adaptive wrappers, finished stages and reused exchanges. */
object PlanWalk {

  /** The plan behind a wrapper that only carries another one. */
  def unwrap(plan: SparkPlan): SparkPlan = carried(plan).fold(plan)(unwrap)

  private def carried(plan: SparkPlan): Option[SparkPlan] = plan match {
    case adaptive: AdaptiveSparkPlanExec => Some(adaptive.executedPlan)
    case stage: QueryStageExec => Some(stage.plan)
    case result: CommandResultExec => Some(result.commandPhysicalPlan)
    case reused: ReusedExchangeExec => Some(reused.child)
    case codegen: WholeStageCodegenExec => Some(codegen.child)
    case adapter: InputAdapter => Some(adapter.child)
    case read: AQEShuffleReadExec => Some(read.child)
    case input: JoinInputExec => Some(input.child)
    case node: PlanningNode => Some(node.child)
    case _ => None
  }

  def children(plan: SparkPlan): Seq[SparkPlan] = unwrap(plan).children

  /**
   * How many nodes `nodes` would give, but not more than `most`. A plan whose reused Exchanges have reused ones below
   * has many times more than it was made of.
   */
  def size(plan: SparkPlan, most: Long): Long = {
    val node = unwrap(plan)
    (node.children ++ node.subqueries).foldLeft(1L) { (sum, below) =>
      if (sum >= most) most else (sum + size(below, most - sum)).min(most)
    }
  }

  def nodes(plan: SparkPlan): Seq[SparkPlan] = {
    val node = unwrap(plan)
    node +: (node.children ++ node.subqueries).flatMap(nodes)
  }

  /**
   * The nodes of a plan for EXPLAIN, top down: a reused Exchange is there only once. That is where it is computed, or
   * where it is used first: adaptive execution drops a side of a join that need not be read, and may so leave an
   * Exchange of it that is used elsewhere, too.
   */
  def shown(plan: SparkPlan): Seq[SparkPlan] = {
    lazy val known = mutable.Set.from(shown(plan, _ => Nil).collect { case e: Exchange => e.canonicalized })
    shown(plan, reused => if (known.add(reused.canonicalized)) Seq(reused) else Nil)
  }

  private def shown(plan: SparkPlan, ofReused: Exchange => Seq[SparkPlan]): Seq[SparkPlan] = plan match {
    case reused: ReusedExchangeExec => ofReused(reused.child).flatMap(shown(_, ofReused))
    case _: ReusedSubqueryExec => Nil
    // Both look into the build side of a join that is in the plan as well.
    case _: SubqueryAdaptiveBroadcastExec | _: ValuesOfBuildSide => Nil
    case _ =>
      carried(plan) match {
        case Some(inner) => shown(inner, ofReused)
        case None => plan +: (plan.children ++ plan.subqueries).flatMap(shown(_, ofReused))
      }
  }

  def leaves(plan: SparkPlan): Seq[SparkPlan] = {
    val node = unwrap(plan)
    if (node.children.isEmpty) Seq(node) else node.children.flatMap(leaves)
  }

  /** The Exchange that feeds an operator's child, if one does: sorts and projections in between do not count. */
  def feedingExchange(child: SparkPlan): Option[Exchange] = unwrap(child) match {
    case exchange: Exchange => Some(exchange)
    case same @ (_: SortExec | _: ProjectExec | _: FilterExec | _: ColumnarToRowExec) =>
      feedingExchange(same.children.head)
    case _ => None
  }

  /** What the columns that operators of a plan make stand for: an alias for its expression. */
  def definitions(plan: SparkPlan): Map[ExprId, Expression] = (plan match {
    case reused: ReusedExchangeExec => columns(reused.output, reused.child.output)
    case expand: ExpandExec => expanded(expand)
    case python: EvalPythonExec => python.resultAttrs.map(_.exprId).zip(python.udfs)
    case node => aliases(node)
  }).toMap ++ carried(plan).fold(plan.children ++ plan.subqueries)(Seq(_)).flatMap(definitions(_))

  private def aliases(node: SparkPlan): Seq[(ExprId, Expression)] =
    node.expressions.flatMap(_.collect { case alias: Alias => alias.exprId -> alias.child })

  /** Grouping sets fill a column with the one below it, or with null. */
  private def expanded(expand: ExpandExec): Seq[(ExprId, Expression)] =
    expand.output.zipWithIndex.flatMap { case (column, index) =>
      expand.projections.map(_(index)).collectFirst { case below: Attribute => column.exprId -> below }
    }

  private def columns(output: Seq[Attribute], below: Seq[Attribute]): Seq[(ExprId, Expression)] =
    output.map(_.exprId).zip(below).filter { case (id, column) => id != column.exprId }
}
