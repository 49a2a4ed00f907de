package org.apache.spark.sql.colocate.doris.ranges

import java.time.{Instant, LocalDate, ZoneId}

import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, GenericInternalRow}
import org.apache.spark.sql.catalyst.util.{DateTimeConstants, TypeUtils}
import org.apache.spark.sql.types.DataType

/** A range of values in Spark's internal form, both ends included. An end is None if it is unknown. */
case class Span(low: Option[Any], high: Option[Any])

/** What a function gives for one value of its argument. */
case class Result(function: Expression, argument: Expression) {

  private val row = new GenericInternalRow(1)

  private val bound = function.transform {
    case part if part eq argument => BoundReference(0, argument.dataType, nullable = true)
  }

  def dataType: DataType = function.dataType

  /** None for a value that the function has no result for. A row with it fails, or is null. */
  def of(value: Any): Option[Any] =
    try {
      row.update(0, value)
      Option(bound.eval(row))
    } catch { case _: RuntimeException => None }
}

/** One function of a chain of them. */
sealed trait Step {

  /** The function's values for these of its argument. */
  def apply(span: Span): Seq[Span]
}

/** Never falls. */
case class AtEnds(result: Result) extends Step {
  override def apply(span: Span): Seq[Span] = Seq(Span(span.low.flatMap(result.of), span.high.flatMap(result.of)))
}

/** A day that is moved by `days` at most. Near the limits of the type, Spark goes on at the other end. */
case class AwayFromLimits(result: Result, days: Int) extends Step {

  private val first = Int.MinValue + days
  private val last = Int.MaxValue - days

  override def apply(span: Span): Seq[Span] = {
    val low = span.low.fold(Int.MinValue)(_.asInstanceOf[Int])
    val high = span.high.fold(Int.MaxValue)(_.asInstanceOf[Int])
    val (from, to) = (math.max(low, first), math.min(high, last))
    val inside = Option.when(from <= to)(Span(result.of(from), result.of(to)))
    val outside =
      if (low >= first && high <= last) Nil
      else Seq(Span(Some(Int.MinValue), Some(first + days)), Span(Some(last - days), Some(Int.MaxValue)))
    inside.toSeq ++ outside
  }
}

/**
 * Depends on the local day alone, and never falls where that rises. A clock that is set back may repeat a part of the
 * day before, so the function is computed at such times, too. Times that are several days apart are surely in order.
 */
case class ByLocalDay(result: Result, zone: ZoneId) extends Step {

  private val ordering: Ordering[Any] = TypeUtils.getInterpretedOrdering(result.dataType)

  override def apply(span: Span): Seq[Span] = {
    val low = span.low.map(_.asInstanceOf[Long])
    val high = span.high.map(_.asInstanceOf[Long])
    Seq(Span(low.flatMap(least(_, high)), high.flatMap(greatest(_, low))))
  }

  private def least(low: Long, high: Option[Long]): Option[Any] =
    results(low +: ClockChanges.after(low, zone).filter(change => high.forall(change <= _))).map(_.min(ordering))

  private def greatest(high: Long, low: Option[Long]): Option[Any] =
    results(high +: ClockChanges.before(high, zone).filter(change => low.forall(_ < change)).map(_ - 1))
      .map(_.max(ordering))

  private def results(times: Seq[Long]): Option[Seq[Any]] = {
    val found = times.map(result.of)
    Option.when(found.forall(_.isDefined))(found.flatten)
  }
}

/** A step on a time, for years that are written with four digits. Texts of others have no order. */
case class InYearsOfFourDigits(step: Step) extends Step {

  override def apply(span: Span): Seq[Span] = {
    val (first, last) = InYearsOfFourDigits.times
    val low = span.low.fold(Long.MinValue)(_.asInstanceOf[Long])
    val high = span.high.fold(Long.MaxValue)(_.asInstanceOf[Long])
    if (first <= low && high <= last) step(span) else Seq(Span(None, None))
  }
}

object InYearsOfFourDigits {

  /** Times whose years are from 1 to 9999 in every zone. */
  private val times = micros(LocalDate.of(1, 1, 3)) -> micros(LocalDate.of(9999, 12, 29))

  private def micros(day: LocalDate): Long = day.toEpochDay * DateTimeConstants.MICROS_PER_DAY
}

/** The times at which a zone's clocks are set to another hour, in microseconds. */
private object ClockChanges {

  private val Window = 4 * DateTimeConstants.MICROS_PER_DAY

  /** The changes in the days after a time. */
  def after(time: Long, zone: ZoneId): Seq[Long] = between(time, plus(time, Window), zone)

  /** The changes in the days before a time, and at that time. */
  def before(time: Long, zone: ZoneId): Seq[Long] = between(plus(time, -Window), time, zone)

  private def between(from: Long, to: Long, zone: ZoneId): Seq[Long] = {
    val rules = zone.getRules
    val start = Instant.ofEpochSecond(Math.floorDiv(from, DateTimeConstants.MICROS_PER_SECOND))
    // A change after the last time of the type is left out: in microseconds it would overflow.
    val last = Math.floorDiv(to, DateTimeConstants.MICROS_PER_SECOND)
    Iterator.iterate(rules.nextTransition(start))(change => rules.nextTransition(change.getInstant))
      .takeWhile(change => change != null && change.getInstant.getEpochSecond <= last)
      .map(_.getInstant.getEpochSecond * DateTimeConstants.MICROS_PER_SECOND)
      .toSeq
  }

  private def plus(time: Long, more: Long): Long = {
    val sum = time + more
    if (more > 0 && sum < time) Long.MaxValue else if (more < 0 && sum > time) Long.MinValue else sum
  }
}
