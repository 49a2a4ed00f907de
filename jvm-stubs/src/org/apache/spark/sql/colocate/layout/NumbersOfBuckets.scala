package org.apache.spark.sql.colocate.layout

import org.apache.spark.sql.catalyst.expressions.{CaseWhen, Coalesce, Expression, Literal}
import org.apache.spark.sql.types.{IntegerType, StringType}
import org.apache.spark.unsafe.types.UTF8String

/**
 * Learns the numbers of buckets of range partitions from the expressions of the two hidden columns. Both are a CASE
 * with the same conditions: one gives the name of a row's partition, the other its number of buckets. So all rows of a
 * partition have the number that stands where its name does.
 */
private[colocate] object NumbersOfBuckets {

  /**
   * None if the expressions prove no numbers.
   *
   * @param number `coalesce(CASE ... END, n)`, where n is the table's own number
   * @param range  the expression of the column `_colocate_range`
   */
  def of(number: Expression, range: Expression): Option[PartitionBuckets] = number match {
    case Coalesce(Seq(tree, Literal(declared: Int, IntegerType))) if declared > 0 && number.deterministic =>
      pairs(range, tree).filter(isFunction).map(found => PartitionBuckets(declared, found.toMap)(number))
    case _ => None
  }

  private def pairs(range: Expression, number: Expression): Option[Seq[(String, Int)]] = (range, number) match {
    case (CaseWhen(Seq((one, name)), Some(otherName)), CaseWhen(Seq((same, n)), Some(otherN)))
        if one.semanticEquals(same) =>
      for (above <- pairs(name, n); below <- pairs(otherName, otherN)) yield above ++ below
    case (Literal(name: UTF8String, _: StringType), Literal(n: Int, IntegerType)) if n > 0 =>
      Some(Seq(name.toString -> n))
    case (hole, none) if RangeColumn.isHole(hole) && RangeColumn.isHole(none) => Some(Nil)
    case _ => None
  }

  /** Has each name one number? */
  private def isFunction(pairs: Seq[(String, Int)]): Boolean = pairs.distinct.size == pairs.map(_._1).distinct.size
}
