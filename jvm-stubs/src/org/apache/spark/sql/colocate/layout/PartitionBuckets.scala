package org.apache.spark.sql.colocate.layout

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.Expression

/**
 * Range partitions with different numbers of buckets: a row's bucket id is `pmod(hash(keys), n)` with the number n of
 * its partition.
 *
 * @param declared the table's own number, for partitions that name none
 * @param byRange  the number of each partition, by its name
 * @param number   gives the number of a row's partition, over columns by the names of the table's schema
 */
case class PartitionBuckets(declared: Int, byRange: Map[String, Int])(val number: Expression) {

  /** A row of no partition, which Delta refuses in all but the first commit of a CREATE, has the table's number. */
  def of(range: Option[String]): Option[Int] = range.fold(Option(declared))(byRange.get)

  /** The partitions with another number than the table's. */
  def others: Map[String, Int] = byRange.filter(_._2 != declared)

  def all: Seq[Int] = (declared +: byRange.values.toSeq).distinct.sorted
}

object PartitionBuckets {

  /** The greatest number of tasks in which each bucket of these partitions lies in one task. */
  def commonDivisor(numbers: Iterable[Int]): Int = numbers.reduce(divisor(_, _))

  @tailrec private def divisor(a: Int, b: Int): Int = if (b == 0) a else divisor(b, a % b)
}
