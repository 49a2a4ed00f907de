package org.apache.spark.sql.colocate.doris.ranges

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.DataType

/** A set of rows, described by the values that each range column can have. */
case class RowValues(columns: IndexedSeq[ColumnValues]) {

  def isEmpty: Boolean = columns.exists(_.isEmpty)

  def changed(column: Int)(change: ColumnValues => ColumnValues): RowValues =
    RowValues(columns.updated(column, change(columns(column))))

  def or(other: RowValues): RowValues =
    if (isEmpty) other
    else if (other.isEmpty) this
    else RowValues(columns.zip(other.columns).map { case (one, another) => one.or(another) })
}

/**
 * The range columns of a table in some order.
 *
 * @param positions the order, for the attributes by which conditions name the columns
 */
case class RangeColumns(types: IndexedSeq[DataType], positions: Map[ExprId, Int]) {

  /** None if a column has a type that can't be compared by numbers. */
  def allRows: Option[RowValues] = {
    val columns = types.map(ColumnValues.all)
    Option.when(columns.nonEmpty && columns.forall(_.isDefined))(RowValues(columns.flatten))
  }

  def position(expression: Expression): Option[Int] = expression match {
    case column: Attribute => positions.get(column.exprId).filter(types(_) == column.dataType)
    case _ => None
  }

  /**
   * The rows for which a condition is true or, without `holds`, false or null. There may be more, never fewer: a
   * condition that is not understood leaves all rows.
   */
  def where(rows: RowValues, condition: Expression, holds: Boolean = true): RowValues =
    if (rows.isEmpty) rows
    else condition match {
      case And(a, b) => if (holds) both(rows, a, b, holds) else either(rows, a, b, holds)
      case Or(a, b) => if (holds) either(rows, a, b, holds) else both(rows, a, b, holds)
      case IsNotNull(Column(at)) => rows.changed(at)(if (holds) _.notNull else _.noValues)
      case IsNull(Column(at)) => rows.changed(at)(if (holds) _.noValues else _.notNull)
      case Comparison(Column(at), operator, value) => rows.changed(at)(compared(_, operator, value, holds))
      case _ => rows
    }

  private def both(rows: RowValues, a: Expression, b: Expression, holds: Boolean): RowValues =
    where(where(rows, a, holds), b, holds)

  private def either(rows: RowValues, a: Expression, b: Expression, holds: Boolean): RowValues =
    where(rows, a, holds).or(where(rows, b, holds))

  private def compared(values: ColumnValues, operator: Operator, literal: Any, holds: Boolean): ColumnValues = {
    val value = ColumnValues.number(literal)
    if (holds) {
      val found = values.notNull
      operator match {
        case Operator.Equal => found.atLeast(value).atMost(value)
        case Operator.Less => found.below(value)
        case Operator.LessOrEqual => found.atMost(value)
        case Operator.Greater => found.above(value)
        case Operator.GreaterOrEqual => found.atLeast(value)
      }
    } else operator match {
      // A comparison with null is null, so nulls stay.
      case Operator.Equal => values.without(value)
      case Operator.Less => values.atLeast(value)
      case Operator.LessOrEqual => values.above(value)
      case Operator.Greater => values.atMost(value)
      case Operator.GreaterOrEqual => values.below(value)
    }
  }

  private object Column {
    def unapply(expression: Expression): Option[Int] = position(expression)
  }
}

sealed trait Operator

object Operator {
  case object Equal extends Operator
  case object Less extends Operator
  case object LessOrEqual extends Operator
  case object Greater extends Operator
  case object GreaterOrEqual extends Operator
}

/** An expression, how it is compared, and the value of the same type that it is compared with, which is not null. */
object Comparison {

  def unapply(condition: Expression): Option[(Expression, Operator, Any)] = condition match {
    case EqualTo(a, b) => sides(a, b, Operator.Equal, Operator.Equal)
    case EqualNullSafe(a, b) => sides(a, b, Operator.Equal, Operator.Equal)
    case LessThan(a, b) => sides(a, b, Operator.Less, Operator.Greater)
    case LessThanOrEqual(a, b) => sides(a, b, Operator.LessOrEqual, Operator.GreaterOrEqual)
    case GreaterThan(a, b) => sides(a, b, Operator.Greater, Operator.Less)
    case GreaterThanOrEqual(a, b) => sides(a, b, Operator.GreaterOrEqual, Operator.LessOrEqual)
    case _ => None
  }

  private def sides(
      a: Expression, b: Expression, operator: Operator, turned: Operator): Option[(Expression, Operator, Any)] =
    (a, b) match {
      case (_: Literal, _: Literal) => None
      case (f, Literal(value, dataType)) if value != null && dataType == f.dataType => Some((f, operator, value))
      case (Literal(value, dataType), f) if value != null && dataType == f.dataType => Some((f, turned, value))
      case _ => None
    }
}
