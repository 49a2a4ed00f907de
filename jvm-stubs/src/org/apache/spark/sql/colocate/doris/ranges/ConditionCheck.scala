package org.apache.spark.sql.colocate.doris.ranges

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.TypeUtils
import org.apache.spark.sql.types.DataType

/** How many of some rows a condition may be true for: none, some or, in every part, at least one. */
sealed abstract class Chance(private val order: Int) {
  def and(other: Chance): Chance = if (other.order < order) other else this
  def or(other: Chance): Chance = if (other.order > order) other else this
}

object Chance {

  /** It is true for no row. */
  case object Never extends Chance(0)

  /** It may be true for a row. For a part of the rows, more may be known. */
  case object Maybe extends Chance(1)

  /** It may be true for a row of every part of the rows, so it need not be looked at again. */
  case object Settled extends Chance(2)

  /** For rows of which each part has a chance of its own. */
  def ofParts(parts: Seq[Chance]): Chance = if (parts.distinct.size == 1) parts.head else Maybe
}

/** May a condition be true for some row, by what the range columns of the rows can be? */
trait ConditionCheck {
  def apply(rows: RowValues): Chance
}

object ConditionCheck {

  private[ranges] val NoLimit: ConditionCheck = _ => Chance.Settled

  def of(condition: Expression, columns: RangeColumns): ConditionCheck = condition match {
    case And(a, b) =>
      val (left, right) = (of(a, columns), of(b, columns))
      if (left eq NoLimit) right else if (right eq NoLimit) left else rows => left(rows).and(right(rows))
    case Or(a, b) =>
      val (left, right) = (of(a, columns), of(b, columns))
      if ((left eq NoLimit) || (right eq NoLimit)) NoLimit else rows => left(rows).or(right(rows))
    case Literal.FalseLiteral | Literal(null, _) => _ => Chance.Never
    case IsNull(column) => columns.position(column).fold(NoLimit)(hasNulls(_))
    case Comparison(f, operator, value) => compared(f, columns)(comparison(operator, value, f.dataType))
    case In(f, list) if list.forall(isLiteralOf(_, f.dataType)) =>
      compared(f, columns)(oneOf(list.map(_.asInstanceOf[Literal].value), f.dataType))
    case InSet(f, values) => compared(f, columns)(oneOf(values.toSeq, f.dataType))
    case _ => NoLimit
  }

  private def isLiteralOf(expression: Expression, dataType: DataType): Boolean = expression match {
    case Literal(value, of) => value == null || of == dataType
    case _ => false
  }

  private def hasNulls(column: Int): ConditionCheck =
    rows => if (rows.columns(column).nulls) Chance.Settled else Chance.Never

  /** A function of null is null here, and a comparison of null is never true. */
  private def compared(f: Expression, columns: RangeColumns)(chance: Span => Chance): ConditionCheck =
    MonotoneFunction.of(f, columns).fold(NoLimit) { function => rows =>
      {
        val values = rows.columns(function.column)
        if (values.hasValues) Chance.ofParts(function.spans(values).map(chance)) else Chance.Never
      }
    }

  private def comparison(operator: Operator, value: Any, dataType: DataType): Span => Chance = {
    val order = TypeUtils.getInterpretedOrdering(dataType)

    def known(end: Option[Any])(holds: Int => Boolean): Boolean = end.exists(v => holds(order.compare(v, value)))

    def between(none: Boolean, all: Boolean): Chance =
      if (none) Chance.Never else if (all) Chance.Settled else Chance.Maybe

    span => operator match {
      case Operator.Equal =>
        val isIt = known(span.low)(_ == 0) && known(span.high)(_ == 0)
        between(known(span.low)(_ > 0) || known(span.high)(_ < 0), isIt)
      case Operator.Less => between(known(span.low)(_ >= 0), known(span.high)(_ < 0))
      case Operator.LessOrEqual => between(known(span.low)(_ > 0), known(span.high)(_ <= 0))
      case Operator.Greater => between(known(span.high)(_ <= 0), known(span.low)(_ > 0))
      case Operator.GreaterOrEqual => between(known(span.high)(_ < 0), known(span.low)(_ >= 0))
    }
  }

  private def oneOf(list: Seq[Any], dataType: DataType): Span => Chance = {
    val order = TypeUtils.getInterpretedOrdering(dataType)
    val values = list.filter(_ != null).sorted(order).toIndexedSeq

    /** The first value that is not below. */
    def from(low: Option[Any]): Option[Any] = low.fold(values.headOption) { v =>
      values.search(v)(order).insertionPoint match {
        case at if at < values.size => Some(values(at))
        case _ => None
      }
    }

    span => from(span.low) match {
      case Some(next) if span.high.forall(order.lteq(next, _)) => Chance.Maybe
      case _ => Chance.Never
    }
  }
}
