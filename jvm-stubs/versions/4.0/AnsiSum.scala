package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.catalyst.expressions.{EvalMode, Expression}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateFunction, Sum}

/** A sum that fails where its type is too small. */
object AnsiSum {
  def apply(value: Expression): Sum = Sum(value, EvalMode.ANSI)

  def unapply(function: AggregateFunction): Boolean = function match {
    case Sum(_, mode) => mode == EvalMode.ANSI
    case _ => false
  }
}
