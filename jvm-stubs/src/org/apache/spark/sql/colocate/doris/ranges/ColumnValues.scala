package org.apache.spark.sql.colocate.doris.ranges

import org.apache.spark.sql.types._

/**
 * The values that a range column can have: from `low` to `high`, both included, or null. There is no value if `low`
 * is above `high`. Inside Spark, the values of all types of range columns are integers.
 */
case class ColumnValues(low: Long, high: Long, nulls: Boolean) {

  def hasValues: Boolean = low <= high
  def isEmpty: Boolean = !hasValues && !nulls

  def atLeast(value: Long): ColumnValues = copy(low = math.max(low, value))
  def atMost(value: Long): ColumnValues = copy(high = math.min(high, value))
  def above(value: Long): ColumnValues = if (value == Long.MaxValue) noValues else atLeast(value + 1)
  def below(value: Long): ColumnValues = if (value == Long.MinValue) noValues else atMost(value - 1)
  def notNull: ColumnValues = copy(nulls = false)
  def noValues: ColumnValues = copy(low = 0, high = -1)

  /** Without the value where it is the first or the last one; else a gap would be left, and all values stay. */
  def without(value: Long): ColumnValues =
    if (low == value) above(value) else if (high == value) below(value) else this

  /** What can be in one or in the other, and what is between them. */
  def or(other: ColumnValues): ColumnValues =
    if (!hasValues) other.copy(nulls = nulls || other.nulls)
    else if (!other.hasValues) copy(nulls = nulls || other.nulls)
    else ColumnValues(math.min(low, other.low), math.max(high, other.high), nulls || other.nulls)
}

object ColumnValues {

  /** All values of a type; None for a type that no range column has. */
  def all(dataType: DataType): Option[ColumnValues] = dataType match {
    case ByteType => Some(ColumnValues(Byte.MinValue, Byte.MaxValue, nulls = true))
    case ShortType => Some(ColumnValues(Short.MinValue, Short.MaxValue, nulls = true))
    case IntegerType | DateType => Some(ColumnValues(Int.MinValue, Int.MaxValue, nulls = true))
    case LongType | TimestampType | TimestampNTZType =>
      Some(ColumnValues(Long.MinValue, Long.MaxValue, nulls = true))
    case _ => None
  }

  /** As Spark keeps a value of the type. */
  def stored(value: Long, dataType: DataType): Any = dataType match {
    case ByteType => value.toByte
    case ShortType => value.toShort
    case IntegerType | DateType => value.toInt
    case _ => value
  }

  def number(stored: Any): Long = stored.asInstanceOf[Number].longValue()
}
