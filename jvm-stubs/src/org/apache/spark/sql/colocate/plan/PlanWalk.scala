package org.apache.spark.sql.colocate.plan

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression, ExprId}
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.adaptive.{AdaptiveSparkPlanExec, AQEShuffleReadExec, QueryStageExec}
import org.apache.spark.sql.execution.exchange.{Exchange, ReusedExchangeExec}
import org.apache.spark.sql.execution.joins.colocate.JoinInputExec

/** Walks a physical plan as it reads, through adaptive wrappers, finished stages and reused exchanges. */
object PlanWalk {

  /** The plan behind a wrapper that only carries another one. */
  def unwrap(plan: SparkPlan): SparkPlan = plan match {
    case adaptive: AdaptiveSparkPlanExec => unwrap(adaptive.executedPlan)
    case stage: QueryStageExec => unwrap(stage.plan)
    case reused: ReusedExchangeExec => unwrap(reused.child)
    case codegen: WholeStageCodegenExec => unwrap(codegen.child)
    case adapter: InputAdapter => unwrap(adapter.child)
    case read: AQEShuffleReadExec => unwrap(read.child)
    case input: JoinInputExec => unwrap(input.child)
    case node: PlanningNode => unwrap(node.child)
    case other => other
  }

  def children(plan: SparkPlan): Seq[SparkPlan] = unwrap(plan).children

  def nodes(plan: SparkPlan): Seq[SparkPlan] = {
    val node = unwrap(plan)
    node +: (node.children ++ node.subqueries).flatMap(nodes)
  }

  def leaves(plan: SparkPlan): Seq[SparkPlan] = {
    val node = unwrap(plan)
    if (node.children.isEmpty) Seq(node) else node.children.flatMap(leaves)
  }

  /** The Exchange that feeds an operator's child, if one does: sorts and projections in between do not count. */
  def feedingExchange(child: SparkPlan): Option[Exchange] = unwrap(child) match {
    case exchange: Exchange => Some(exchange)
    case same @ (_: SortExec | _: ProjectExec | _: FilterExec | _: ColumnarToRowExec) => feedingExchange(same.children.head)
    case _ => None
  }

  /** What a column stands for under a plan: aliases are followed down to the scan's own columns. */
  def origin(expression: Expression, plan: SparkPlan): Expression = {
    val definitions: Map[ExprId, Expression] = nodes(plan)
      .flatMap(_.expressions)
      .flatMap(_.collect { case alias: Alias => alias.exprId -> alias.child })
      .toMap

    def follow(e: Expression, depth: Int): Expression = e.transformUp {
      case a: Attribute if depth < 50 && definitions.contains(a.exprId) => follow(definitions(a.exprId), depth + 1)
    }
    follow(expression, 0)
  }
}
