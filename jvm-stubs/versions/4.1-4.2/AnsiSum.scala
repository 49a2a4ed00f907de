package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.catalyst.expressions.{EvalMode, Expression, NumericEvalContext}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateFunction, Sum}

/** A sum that fails where its type is too small. Its mode is in a context since Spark 4.1. */
object AnsiSum {
  def apply(value: Expression): Sum = Sum(value, NumericEvalContext(EvalMode.ANSI))

  def unapply(function: AggregateFunction): Boolean = function match {
    case Sum(_, context) => context.evalMode == EvalMode.ANSI
    case _ => false
  }
}
