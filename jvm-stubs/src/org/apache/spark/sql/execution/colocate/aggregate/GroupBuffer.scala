package org.apache.spark.sql.execution.colocate.aggregate

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, DeclarativeAggregate, MaxBy}

/**
 * The buffer of one aggregate function, or of several that share it: the state of a group after the rows read so far.
 *
 * @param columns the buffer's columns
 * @param others  the same columns of a second buffer
 * @param first   the buffer after the first row, over the input
 * @param next    the buffer after one more row, over `columns` and the input
 * @param merged  the buffer of two parts of a group, over `columns` and `others`
 * @param results each function's result over `columns`, by the id of its AggregateExpression
 */
case class GroupBuffer(
    columns: Seq[Attribute],
    others: Seq[Attribute],
    first: Seq[Expression],
    next: Seq[Expression],
    merged: Seq[Expression],
    results: Seq[(ExprId, Expression)])

object GroupBuffer {

  /**
   * All `max_by` with the same order share a buffer: they take the values of the same row. Buffers are in the order of
   * the aggregates: a query that is run again then has the same generated code, which is compiled already.
   */
  def of(aggregates: Seq[AggregateExpression]): Seq[GroupBuffer] = {
    def shared(aggregate: AggregateExpression) = orderOf(aggregate).getOrElse(aggregate.resultId)
    val alike = aggregates.groupBy(shared)
    aggregates.map(shared).distinct.map(alike).map { alike =>
      if (alike.exists(orderOf(_).isDefined)) ofLastRow(alike) else ofFunction(alike.head)
    }
  }

  private def orderOf(aggregate: AggregateExpression): Option[Expression] = aggregate.aggregateFunction match {
    case MaxBy(_, order) => Some(order.canonicalized)
    case _ => None
  }

  /** The buffer that the function has by itself. */
  def ofFunction(aggregate: AggregateExpression): GroupBuffer = {
    val function = aggregate.aggregateFunction.asInstanceOf[DeclarativeAggregate]
    val initial = AttributeMap(function.aggBufferAttributes.zip(function.initialValues))
    GroupBuffer(
      function.aggBufferAttributes,
      function.inputAggBufferAttributes,
      function.updateExpressions.map(_.transform { case a: Attribute if initial.contains(a) => initial(a) }),
      function.updateExpressions,
      function.mergeExpressions,
      Seq(aggregate.resultId -> function.evaluateExpression))
  }

  private def ofLastRow(aggregates: Seq[AggregateExpression]): GroupBuffer = {
    val functions = aggregates.map(_.aggregateFunction.asInstanceOf[MaxBy])
    val (order, values) = (functions.head.orderingExpr, functions.map(_.valueExpr))
    val (columns, others) = (attributes(order +: values), attributes(order +: values))
    val isLater = later(order, columns.head)
    val isOtherLater = later(others.head, columns.head)
    GroupBuffer(
      columns,
      others,
      order +: (if (!order.nullable) values else values.map(v => If(IsNull(order), Literal(null, v.dataType), v))),
      columns.zip(order +: values).map { case (old, value) => If(isLater, value, old) },
      columns.zip(others).map { case (old, other) => If(isOtherLater, other, old) },
      aggregates.map(_.resultId).zip(columns.tail))
  }

  private def attributes(of: Seq[Expression]): Seq[Attribute] =
    of.map(e => AttributeReference("last", e.dataType, e.nullable || of.head.nullable)())

  /** A row without an order is never the last one. */
  private def later(order: Expression, than: Expression): Expression =
    if (order.nullable) Or(And(IsNull(than), IsNotNull(order)), GreaterThan(order, than)) else GreaterThan(order, than)
}
