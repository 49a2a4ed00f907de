package org.apache.spark.sql.colocate.doris.ranges

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.internal.{LegacyBehaviorPolicy, SQLConf}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/**
 * A monotonic function of one range column, such as `year(d)` or
 * `date_trunc('MONTH', ts)`. So its values over a range lie between those at the two ends.
 */
case class MonotoneFunction(column: Int, columnType: DataType, steps: Seq[Step]) {

  /** The function's values for these of the column. Null gives null. */
  def spans(values: ColumnValues): Seq[Span] = {
    def end(value: Long): Option[Any] = Some(ColumnValues.stored(value, columnType))
    val start = Seq(Span(end(values.low), end(values.high)))
    steps.foldLeft(start)((spans, step) => spans.flatMap(step(_)))
  }
}

object MonotoneFunction {

  /** If every year has four digits, the strings sort as the days do. */
  private val OrderedPattern = "yyyy([-/. ]?MM([-/. ]?dd)?)?"

  private val MostDaysAdded = 1000000

  /** A day is moved to the start or the end of its year at most; and some more. */
  private val DaysOfYear = 400

  def of(function: Expression, columns: RangeColumns): Option[MonotoneFunction] =
    columns.position(function) match {
      case Some(at) => Some(MonotoneFunction(at, columns.types(at), Nil))
      case None => stepOf(function).flatMap { case (argument, step) =>
          of(argument, columns).map(inner => inner.copy(steps = inner.steps :+ step))
        }
    }

  /** The outermost function, and its argument. None for a function that may fall or is not known here. */
  private def stepOf(function: Expression): Option[(Expression, Step)] = function match {
    case Year(day) if isDate(day) => Some(day -> AtEnds(Result(function, day)))
    case LastDay(day) if isDate(day) => Some(day -> AwayFromLimits(Result(function, day), DaysOfYear))
    case TruncDate(day, _: Literal) if isDate(day) => Some(day -> AwayFromLimits(Result(function, day), DaysOfYear))
    case DateAdd(day, Days(days)) if isDate(day) => Some(day -> AwayFromLimits(Result(function, day), days))
    case DateSub(day, Days(days)) if isDate(day) => Some(day -> AwayFromLimits(Result(function, day), days))
    case AddMonths(day, _: Literal) if isDate(day) => Some(day -> AtEnds(Result(function, day)))
    case DateAddYMInterval(day, _: Literal) if isDate(day) => Some(day -> AtEnds(Result(function, day)))
    case cast: Cast => cast.child.dataType -> cast.dataType match {
        case (DateType, TimestampType | TimestampNTZType) | (TimestampNTZType, DateType) =>
          Some(cast.child -> AtEnds(Result(cast, cast.child)))
        case (TimestampType, DateType) => Some(cast.child -> ByLocalDay(Result(cast, cast.child), cast.zoneId))
        case _ => None
      }
    case trunc @ TruncTimestamp(Literal(unit: UTF8String, _), time, _)
        if time.dataType == TimestampType && DateTimeUtils.parseTruncLevel(unit) >= DateTimeUtils.TRUNC_TO_DAY =>
      Some(time -> ByLocalDay(Result(trunc, time), trunc.zoneId))
    case format @ DateFormatClass(time, Literal(pattern: UTF8String, _), _)
        if time.dataType == TimestampType && format.dataType == StringType && isOrdered(pattern.toString) =>
      Some(time -> InYearsOfFourDigits(ByLocalDay(Result(format, time), format.zoneId)))
    case _ => None
  }

  private def isDate(expression: Expression): Boolean = expression.dataType == DateType

  private def isOrdered(pattern: String): Boolean =
    pattern.matches(OrderedPattern) &&
      SQLConf.get.legacyTimeParserPolicy != LegacyBehaviorPolicy.LEGACY

  private object Days {
    def unapply(days: Expression): Option[Int] = days match {
      case Literal(number: Number, _) => Some(math.abs(number.intValue())).filter(n => n >= 0 && n <= MostDaysAdded)
      case _ => None
    }
  }
}
