package org.apache.spark.sql.colocate.rules.aggregate

import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Complete, DeclarativeAggregate}
import org.apache.spark.sql.execution.aggregate.{BaseAggregateExec, SortAggregateExec}
import org.apache.spark.sql.execution.{SortExec, SparkPlan}

/** For rules that give an aggregate in one step (mode Complete) another operator. */
private[colocate] object OneStep {

  /** Has the aggregate keys, and plain functions only? */
  def isPlain(all: BaseAggregateExec): Boolean =
    !all.isStreaming && all.groupingExpressions.nonEmpty && all.aggregateExpressions.forall(isPlain)

  /** Without DISTINCT and FILTER, and computed by expressions. */
  def isPlain(one: AggregateExpression): Boolean =
    one.mode == Complete && one.filter.isEmpty && !one.isDistinct &&
      one.aggregateFunction.isInstanceOf[DeclarativeAggregate]

  /** The rows of a sort aggregate below its own sort; None if they are in order anyway. */
  def unsorted(all: SortAggregateExec): Option[SparkPlan] = all.child match {
    case SortExec(_, false, rows, _) => Some(rows)
    case _ => None
  }
}
