package org.apache.spark.sql.colocate.rules.aggregate

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec

/** One use of an aggregate that others use, too. having: the filter directly above it, in terms of its output. */
private[colocate] case class UseOfAggregate(aggregate: BaseAggregateExec, having: Option[Expression])
    extends PredicateHelper {

  /**
   * The filter over the columns of UseOfAggregate.columns, by position; None if each group may be needed. It ends at
   * the first condition that must run once and in order: later conditions may rely on it, as a division on a test for
   * zero.
   */
  private def keeps: Option[Expression] = having
    .map(condition => splitConjunctivePredicates(replaceAlias(condition, made)).takeWhile(isMovable))
    .flatMap(_.reduceOption(And))
    .map(BindReferences.bindReference(_, UseOfAggregate.columns(aggregate)))

  private def made: AttributeMap[Alias] = getAliasMap(aggregate.resultExpressions)

  private def isMovable(condition: Expression): Boolean =
    condition.deterministic && !condition.exists(_.isInstanceOf[PlanExpression[_]])
}

private[colocate] object UseOfAggregate {

  /** The columns from which each use computes its output: equal in all uses of one aggregate except for their ids. */
  def columns(aggregate: BaseAggregateExec): Seq[Attribute] =
    aggregate.groupingExpressions.map(_.toAttribute) ++ aggregate.aggregateAttributes

  /** The condition of a group that any of the uses keeps, the same for each of them; None where one needs all. */
  def keptByAny(uses: Seq[UseOfAggregate], columns: Seq[Attribute]): Option[Expression] = {
    val kept = uses.flatMap(_.keeps)
    Option.when(kept.size == uses.size)(kept.distinctBy(_.canonicalized).reduce(Or).transform {
      case BoundReference(place, _, _) => columns(place)
    })
  }
}
