package org.apache.spark.sql.execution.joins.colocate

import org.apache.spark.sql.catalyst.expressions.{And, EqualTo, Expression, If, IsNull, Literal, Or, XxHash64}
import org.apache.spark.sql.types._

/**
 * Hashes the keys of a join to one long, if they are not one already, so that its rows can be in a LongKeyTable.
 * Different keys may have the same hash; the join's condition compares the keys themselves.
 */
private[colocate] object HashedKeys {

  private val Seed = 42L

  def supports(keys: Seq[Expression]): Boolean = keys.forall(_.dataType match {
    case text: StringType => text.supportsBinaryEquality
    case BinaryType | BooleanType | _: NumericType | DateType | TimestampType | TimestampNTZType => true
    case _ => false
  })

  /** Null if one of them is: such a row has no partner. */
  def of(keys: Seq[Expression]): Expression = {
    val hash = XxHash64(keys, Seed)
    val isNull = keys.filter(_.nullable).map(IsNull(_): Expression).reduceOption(Or)
    isNull.fold[Expression](hash)(If(_, Literal(null, LongType), hash))
  }

  def areEqual(leftKeys: Seq[Expression], rightKeys: Seq[Expression]): Expression =
    leftKeys.zip(rightKeys).map { case (left, right) => EqualTo(left, right): Expression }.reduce(And)
}
