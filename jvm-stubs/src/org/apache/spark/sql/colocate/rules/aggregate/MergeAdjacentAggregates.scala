package org.apache.spark.sql.colocate.rules.aggregate

import org.apache.spark.sql.catalyst.expressions.aggregate.{Complete, Final, Partial}
import org.apache.spark.sql.catalyst.expressions.{Alias, Expression, NamedExpression}
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
    case last: BaseAggregateExec if !last.isStreaming => last.child match {
        case first: BaseAggregateExec if first.getClass == last.getClass && isPair(last, first) =>
          constructor(last).fold[SparkPlan](last)(_(
            Some(clustering(first.groupingExpressions)), false, last.numShufflePartitions, first.groupingExpressions,
            first.aggregateExpressions.map(_.copy(mode = Complete)), last.aggregateAttributes, 0,
            last.resultExpressions, first.child))
        case _ => last
      }
  }

  /** The constructor of one of Spark's three aggregates, which have the same parameters. */
  private def constructor(aggregate: BaseAggregateExec) = aggregate match {
    case _: HashAggregateExec => Some(HashAggregateExec.apply _)
    case _: SortAggregateExec => Some(SortAggregateExec.apply _)
    case _: ObjectHashAggregateExec => Some(ObjectHashAggregateExec.apply _)
    case _ => None
  }

  private def isPair(last: BaseAggregateExec, first: BaseAggregateExec): Boolean =
    first.requiredChildDistributionExpressions.isEmpty &&
      last.aggregateExpressions.nonEmpty &&
      last.groupingExpressions.nonEmpty &&
      last.aggregateExpressions.forall(_.mode == Final) &&
      first.aggregateExpressions.forall(a => a.mode == Partial && !a.isDistinct) &&
      last.aggregateExpressions.map(_.resultId) == first.aggregateExpressions.map(_.resultId) &&
      last.groupingExpressions.map(_.exprId) == first.groupingExpressions.map(_.toAttribute.exprId)

  /** The required distribution in terms of the columns of the child; it is the same as before. */
  private def clustering(grouping: Seq[NamedExpression]): Seq[Expression] = grouping.map {
    case Alias(child, _) => child
    case other => other
  }
}
