package org.apache.spark.sql.colocate.testing.doris

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, MaxBy, MinBy}
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Filter, LogicalPlan, Project}
import org.apache.spark.sql.colocate.doris.keys.KeyModel
import org.apache.spark.sql.colocate.testing.{PlantedBugs, WrongOptimizer}
import org.apache.spark.sql.execution.datasources.LogicalRelation

/** Reads of tables with AGGREGATE KEY or UNIQUE KEY that do not see the right row for each key. */
class WrongKeys extends WrongOptimizer with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan = PlantedBugs.planted match {
    case Some("first_load_replaces") => plan.transformAllExpressions { case MaxBy(value, order) => MinBy(value, order) }
    case Some("keys_not_aggregated") => plan.transform {
      case aggregate: Aggregate if isByKey(aggregate) =>
        Project(aggregate.aggregateExpressions.map(plain(_).asInstanceOf[NamedExpression]), aggregate.child)
    }
    case Some("value_filter_below_keys") => plan.transform {
      case filter @ Filter(condition, aggregate: Aggregate) if isByKey(aggregate) && condition.deterministic =>
        filter.copy(child = filtered(aggregate, condition))
    }
    case _ => plan
  }

  /** Is it the aggregate that makes one row of each key? */
  private def isByKey(aggregate: Aggregate): Boolean = aggregate.child match {
    case PhysicalOperation(_, _, relation: LogicalRelation) => KeyModel.of(relation).isDefined
    case _ => false
  }

  /** Values as they were loaded, each of which becomes a row. */
  private def plain(result: Expression): Expression = result.transformUp {
    case AggregateExpression(function, _, _, _, _) => function.children.head
  }

  /** Once: Spark asks a rule again until it changes nothing. */
  private def filtered(aggregate: Aggregate, condition: Expression): Aggregate = {
    val loaded = AttributeMap(aggregate.aggregateExpressions.collect { case a: Alias =>
      a.toAttribute -> plain(a.child)
    })
    val there = aggregate.child.collect { case Filter(other, _) => splitConjunctivePredicates(other) }.flatten
    val missing = splitConjunctivePredicates(condition)
      .map(_.transform { case column: Attribute => loaded.getOrElse(column, column) })
      .filterNot(wanted => there.exists(_.semanticEquals(wanted)))
    if (missing.isEmpty) aggregate else aggregate.copy(child = Filter(missing.reduce(And), aggregate.child))
  }
}
