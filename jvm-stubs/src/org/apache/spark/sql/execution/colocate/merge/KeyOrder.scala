package org.apache.spark.sql.execution.colocate.merge

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Ascending, Attribute, BaseOrdering, BindReferences, SortOrder}
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateOrdering
import org.apache.spark.sql.types._

/**
 * Ascending order by key columns, nulls first. The first column of a row also has a prefix, a number in the same
 * order, which is enough for most comparisons.
 *
 * @param keys   the key columns, the first one first
 * @param input  the columns of the rows
 */
private[merge] class KeyOrder(keys: Seq[Attribute], input: Seq[Attribute]) {

  private val whole: BaseOrdering =
    GenerateOrdering.generate(BindReferences.bindReferences(keys.map(SortOrder(_, Ascending)), input))

  private val first: Prefix = Prefix.of(keys.head.dataType, input.indexWhere(_.exprId == keys.head.exprId))

  /** Is the prefix the whole key? Only null has the prefix of a number, of the least one. */
  private val isWhole: Boolean = keys.size == 1 && first.isExact

  def prefixOf(row: InternalRow): Long = first.of(row)

  def compare(prefix: Long, row: InternalRow, otherPrefix: Long, other: InternalRow): Int =
    if (prefix < otherPrefix) -1
    else if (prefix > otherPrefix) 1
    else compareWhole(prefix, row, other)

  /** @param prefix of both rows */
  def compareWhole(prefix: Long, row: InternalRow, other: InternalRow): Int =
    if (isWhole && prefix != Long.MinValue) 0 else whole.compare(row, other)
}

/** A number in the order of a column's values; equal values have equal ones. */
private sealed abstract class Prefix(val isExact: Boolean) {
  def of(row: InternalRow): Long
}

private object Prefix {

  def of(columnType: DataType, at: Int): Prefix = columnType match {
    case LongType | TimestampType | TimestampNTZType => new Exact(at) { def value(row: InternalRow) = row.getLong(at) }
    case IntegerType | DateType => new Exact(at) { def value(row: InternalRow) = row.getInt(at).toLong }
    case ShortType => new Exact(at) { def value(row: InternalRow) = row.getShort(at).toLong }
    case ByteType => new Exact(at) { def value(row: InternalRow) = row.getByte(at).toLong }
    case _: StringType => new Prefix(isExact = false) {
        // Spark compares these numbers as unsigned ones.
        def of(row: InternalRow): Long =
          if (row.isNullAt(at)) Long.MinValue else row.getUTF8String(at).getPrefix ^ Long.MinValue
      }
    case _ => new Prefix(isExact = false) { def of(row: InternalRow): Long = 0 }
  }

  private abstract class Exact(at: Int) extends Prefix(isExact = true) {
    def value(row: InternalRow): Long
    def of(row: InternalRow): Long = if (row.isNullAt(at)) Long.MinValue else value(row)
  }
}
