package org.apache.spark.sql.colocate.doris.keys

import org.apache.spark.sql.catalyst.expressions.{Attribute, Cast, EvalMode, Expression, If, IsNotNull, Literal}
import org.apache.spark.sql.catalyst.expressions.aggregate.{Max, MaxBy, Min}
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.compat.AnsiSum
import org.apache.spark.sql.internal.SQLConf

/** The aggregate functions of value columns, as Catalyst's. Their results have the column's type. */
object KeyFunctions {

  /**
   * @param order of the rows, as they were loaded; only REPLACE and REPLACE_IF_NOT_NULL need it
   */
  def apply(function: String, value: Attribute, order: => Expression): Expression = function match {
    case "SUM" => summed(value)
    case "MIN" => Min(value).toAggregateExpression()
    case "MAX" => Max(value).toAggregateExpression()
    case "REPLACE" => MaxBy(value, order).toAggregateExpression()
    case "REPLACE_IF_NOT_NULL" =>
      val at = order
      MaxBy(value, If(IsNotNull(value), at, Literal(null, at.dataType))).toAggregateExpression()
    case other => throw new ColocateException("KEY_MODEL_COLUMN",
        s"Cannot read column ${value.name}: its aggregation is $other, and there is no such aggregation. Another " +
          "program has changed the table's schema. RESTORE the table to a version before that.")
  }

  /** A sum that does not fit into the column fails: a wrapped value, or a null, would be a wrong one. */
  private def summed(value: Attribute): Expression = {
    val sum = AnsiSum(value).toAggregateExpression()
    if (sum.dataType == value.dataType) sum
    else Cast(sum, value.dataType, Some(SQLConf.get.sessionLocalTimeZone), EvalMode.ANSI)
  }
}
