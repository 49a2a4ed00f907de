package org.apache.spark.sql.colocate.explain

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{Attribute, ExprId, Expression}

/**
 * Rewrites expressions in terms of the scans' own columns.
 *
 * @param definitions of the columns that the operators of a plan make. A definition may name its own column: Spark
 *                    normalizes a floating key under the expression id that it had before
 */
private[explain] final class Origins(definitions: Map[ExprId, Expression]) {

  private val followed = mutable.HashMap.empty[ExprId, (Expression, Long)]
  private val open = mutable.HashSet.empty[ExprId]

  /** Fails with [[NotWorkedOut]] if it is larger than anybody reads: it may double with each projection. */
  def of(expression: Expression): Expression = {
    val (origin, size) = follow(expression)
    if (size > Origins.MostNodes) throw new NotWorkedOut("its keys are computed by too many expressions")
    origin
  }

  /** With its size in nodes. The parts that columns stand for are shared, so that the work does not grow with it. */
  private def follow(expression: Expression): (Expression, Long) = {
    var size = 0L
    val origin = expression.transformUp { case column: Attribute if leadsOn(column.exprId) =>
      val (definition, nodes) = followed.getOrElseUpdate(column.exprId, defined(column.exprId))
      size += nodes
      definition
    }
    expression.foreach(_ => size += 1)
    (origin, size.min(Origins.MostNodes + 1))
  }

  private def leadsOn(column: ExprId): Boolean = definitions.contains(column) && !open(column)

  private def defined(column: ExprId): (Expression, Long) = {
    open += column
    try follow(definitions(column)) finally open -= column
  }
}

private[explain] object Origins {
  val MostNodes: Long = 1000
}
