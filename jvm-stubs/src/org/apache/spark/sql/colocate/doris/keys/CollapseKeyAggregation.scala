package org.apache.spark.sql.colocate.doris.keys

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.AGGREGATE
import org.apache.spark.sql.colocate.compat.AnsiSum
import org.apache.spark.sql.colocate.rules.{Rewrite, RuleTable}
import org.apache.spark.sql.types.FloatType

/**
 * Matches: an aggregate of a table with AGGREGATE KEY that groups, if at all, by deterministic expressions of key
 * columns, and whose functions are those that the columns were declared with: SUM of a SUM column, MIN of MIN, MAX of
 * MAX; of key columns MIN, MAX and functions with DISTINCT.
 * Produces: the same aggregate of the rows as they were loaded, without making one row of each key first. Doris calls
 * this pre-aggregation.
 * Not when: a filter has a value column; or it sums a FLOAT column, whose sum for each key is rounded.
 */
object CollapseKeyAggregation extends Rule[LogicalPlan] with AliasHelper {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!RuleTable.isActive("CollapseKeyAggregation")) plan
    else plan.transformUpWithPruning(_.containsPattern(AGGREGATE)) { case outer: Aggregate =>
      Rewrite.orElse("CollapseKeyAggregation", outer)(collapsed(outer).getOrElse(outer))
    }

  private def collapsed(outer: Aggregate): Option[Aggregate] = outer.child match {
    case PhysicalOperation(columns, Seq(), inner: Aggregate) => for {
        rows <- RowsOf.of(inner.child)
        model <- KeyModel.of(rows.relation)
        columnsByKey <- ColumnsByKey.of(inner, model)
        if new Collapsible(columnsByKey, getAliasMap(columns)).holds(outer)
        used = columns.filter(column => outer.references.contains(column.toAttribute))
      } yield outer.copy(child = Project(used, columnsByKey.ofLoadedRows(rows)))
    case _ => None
  }
}

/**
 * What an aggregate by key gives.
 *
 * @param keys   its key columns
 * @param values its other columns, each with the function and the loaded column that it is of
 */
private case class ColumnsByKey(keys: Seq[NamedExpression], values: Seq[ColumnsByKey.Value]) {

  private val byAttribute = AttributeMap(values.map(value => value.result.toAttribute -> value.function))

  val keySet: AttributeSet = AttributeSet(keys.map(_.toAttribute))

  def functionOf(column: Attribute): Option[AggregateFunction] = byAttribute.get(column)

  /** The columns that have a function, by the same ids, for each loaded row. */
  def ofLoadedRows(rows: RowsOf): LogicalPlan = {
    val results = keys ++ values.map(value => Alias(value.loaded, value.result.name)(value.result.exprId))
    val used = AttributeSet(results.flatMap(_.references))
    Project(results, rows.copy(columns = rows.columns.filter(column => used.contains(column.toAttribute))).plan)
  }
}

private object ColumnsByKey {

  case class Value(result: NamedExpression, function: AggregateFunction, loaded: Attribute)

  /** None if the aggregate is not by the keys of the table. Columns of other functions are left out. */
  def of(aggregate: Aggregate, model: KeyModel): Option[ColumnsByKey] = {
    val grouped = aggregate.groupingExpressions.collect { case key: Attribute if model.isKey(key.name) => key }
    val (keys, values) = aggregate.aggregateExpressions.partition(_.references.subsetOf(AttributeSet(grouped)))
    Option.when(grouped.size == aggregate.groupingExpressions.size && grouped.size == model.keys.size)(
      ColumnsByKey(keys, values.flatMap(valueOf)))
  }

  private def valueOf(result: NamedExpression): Option[Value] = result.collectFirst {
    case AggregateExpression(function, Complete, false, None, _) if isOfModel(function) => function
  }.flatMap { function =>
    function.children match {
      case Seq(loaded: Attribute) if loaded.dataType == result.dataType && isOnlyFunction(result) =>
        Some(Value(result, function, loaded))
      case _ => None
    }
  }

  /** A SUM column fails where its type is too small; `try_sum`, which gives null there, is not it. */
  private def isOfModel(function: AggregateFunction): Boolean = function match {
    case AnsiSum() => true
    case _ => function.isInstanceOf[Min] || function.isInstanceOf[Max]
  }

  /** Is the column nothing but the function's result, cast to the column's type? */
  private def isOnlyFunction(result: Expression): Boolean = result match {
    case Alias(child, _) => isOnlyFunction(child)
    case cast: Cast => isOnlyFunction(cast.child)
    case _ => result.isInstanceOf[AggregateExpression]
  }
}

/**
 * Does an aggregate give the same of the loaded rows as of one row for each key?
 *
 * @param above the columns that a projection between the two aggregates computes
 */
private class Collapsible(byKey: ColumnsByKey, above: AttributeMap[Alias]) extends AliasHelper {

  def holds(outer: Aggregate): Boolean =
    outer.groupingExpressions.forall(isOfKeys) && outer.aggregateExpressions.forall(isSame)

  private def isSame(result: Expression): Boolean = result match {
    case aggregate: AggregateExpression => aggregate.filter.forall(isOfKeys) && isSameFunction(aggregate)
    case _: Attribute => isOfKeys(result)
    case _ => result.deterministic && result.children.forall(isSame)
  }

  private def isSameFunction(aggregate: AggregateExpression): Boolean = {
    val function = aggregate.aggregateFunction
    val ignoresRepeats = aggregate.isDistinct || function.isInstanceOf[Min] || function.isInstanceOf[Max]
    if (ignoresRepeats && isOfKeys(function)) true
    else !aggregate.isDistinct && (function match {
      case Sum(column, _) => columnOf(column).exists(_.isInstanceOf[Sum]) && column.dataType != FloatType
      case Min(column) => columnOf(column).exists(_.isInstanceOf[Min])
      case Max(column) => columnOf(column).exists(_.isInstanceOf[Max])
      case _ => false
    })
  }

  private def columnOf(expression: Expression): Option[AggregateFunction] = replaceAlias(expression, above) match {
    case column: Attribute => byKey.functionOf(column)
    case _ => None
  }

  private def isOfKeys(expression: Expression): Boolean = {
    val whole = replaceAlias(expression, above)
    whole.deterministic && whole.references.subsetOf(byKey.keySet)
  }
}
