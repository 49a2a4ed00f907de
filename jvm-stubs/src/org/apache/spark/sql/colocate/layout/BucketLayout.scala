package org.apache.spark.sql.colocate.layout

import org.apache.spark.sql.types.DataType

/**
 * How a table's rows are distributed: bucket id = pmod(hash(keys), buckets) with Spark's Murmur3 `hash`.
 *
 * Range partitions may have different numbers of buckets. Then `buckets` is a divisor g of all of them, and the table
 * is read as if it had g buckets: since g divides n, `pmod(h, n) mod g = pmod(h, g)`.
 *
 * @param keys       names of the key columns, in hash order, spelled as in the table's schema
 * @param keyTypes   their types, in the same order
 * @param buckets    number of buckets, at least 1
 * @param partitions the numbers of the range partitions, where they differ
 */
case class BucketLayout(
    keys: Seq[String],
    keyTypes: Seq[DataType],
    buckets: Int,
    partitions: Option[PartitionBuckets] = None) {

  /** The number that CREATE TABLE names. */
  def declared: Int = partitions.fold(buckets)(_.declared)

  /** The greatest number of buckets of a partition. */
  def most: Int = partitions.fold(buckets)(_.all.max)

  /** The numbers, for messages: `8`, or `4, 6 or 8`. */
  def numbers: String = partitions.fold(Seq(buckets))(_.all) match {
    case Seq(one) => one.toString
    case several => s"${several.init.mkString(", ")} or ${several.last}"
  }

  /**
   * The one of the `buckets` that rows with this bucket id belong to; None if the id, or the number of buckets of their
   * partition, does not fit.
   *
   * @param range the rows' range partition, if they are in one
   */
  def bucketOf(range: Option[String], id: Int): Option[Int] =
    partitions.fold(Option(buckets))(_.of(range))
      .filter(number => id >= 0 && id < number && number % buckets == 0)
      .map(_ => id % buckets)

  /** For a scan of these partitions alone. */
  def ofRanges(ranges: Set[Option[String]]): BucketLayout = partitions.fold(this) { numbers =>
    val read = ranges.flatMap(numbers.of)
    if (read.isEmpty) this else copy(buckets = PartitionBuckets.commonDivisor(read))
  }
}
