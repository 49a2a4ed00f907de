package org.apache.spark.sql.colocate.rules.aggregate

import org.apache.spark.sql.catalyst.expressions.aggregate.{Complete, Final, Partial}
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression, NamedExpression}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.aggregate._

/**
 * Matches: a partial aggregate directly below its final one, without an Exchange between them.
 * Produces: one complete aggregate, which does the work of both in one step.
 * Not when: the groupings differ, or the aggregates are merging, stateful or of session windows.
 */
object MergeAdjacentAggregates extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan = plan.transformUp {
    case last @ HashAggregateExec(_, false, _, _, _, _, _, _, first: HashAggregateExec)
        if first.requiredChildDistributionExpressions.isEmpty && isPair(last, first) =>
      last.copy(
        requiredChildDistributionExpressions = Some(clustering(first.groupingExpressions)),
        groupingExpressions = first.groupingExpressions,
        aggregateExpressions = first.aggregateExpressions.map(_.copy(mode = Complete)),
        initialInputBufferOffset = 0,
        child = first.child)
    case last @ SortAggregateExec(_, false, _, _, _, _, _, _, first: SortAggregateExec)
        if first.requiredChildDistributionExpressions.isEmpty && isPair(last, first) =>
      last.copy(
        requiredChildDistributionExpressions = Some(clustering(first.groupingExpressions)),
        groupingExpressions = first.groupingExpressions,
        aggregateExpressions = first.aggregateExpressions.map(_.copy(mode = Complete)),
        initialInputBufferOffset = 0,
        child = first.child)
    case last @ ObjectHashAggregateExec(_, false, _, _, _, _, _, _, first: ObjectHashAggregateExec)
        if first.requiredChildDistributionExpressions.isEmpty && isPair(last, first) =>
      last.copy(
        requiredChildDistributionExpressions = Some(clustering(first.groupingExpressions)),
        groupingExpressions = first.groupingExpressions,
        aggregateExpressions = first.aggregateExpressions.map(_.copy(mode = Complete)),
        initialInputBufferOffset = 0,
        child = first.child)
  }

  private def isPair(last: BaseAggregateExec, first: BaseAggregateExec): Boolean =
    last.aggregateExpressions.nonEmpty &&
      last.groupingExpressions.nonEmpty &&
      last.aggregateExpressions.forall(_.mode == Final) &&
      first.aggregateExpressions.forall(a => a.mode == Partial && !a.isDistinct) &&
      last.aggregateExpressions.map(_.resultId) == first.aggregateExpressions.map(_.resultId) &&
      last.groupingExpressions.map(_.exprId) == first.groupingExpressions.map(_.toAttribute.exprId)

  /** The required distribution in terms of the columns of the child; it is the same as before. */
  private def clustering(grouping: Seq[NamedExpression]): Seq[Expression] = grouping.map {
    case Alias(child, _) => child
    case attribute: Attribute => attribute
    case other => other
  }
}
