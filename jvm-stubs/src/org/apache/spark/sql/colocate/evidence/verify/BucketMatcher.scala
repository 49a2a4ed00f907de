package org.apache.spark.sql.colocate.evidence.verify

/**
 * One bucket of a layout, and which hashes are in it: those whose remainder by `buckets` is `bucket`.
 *
 * It runs for every row that is checked, so it avoids a division: for `multiplier` = 2^64 / buckets, rounded up, a
 * number below 2^33 is a multiple of `buckets` where its product with the multiplier, modulo 2^64, is less than the
 * multiplier (Lemire, Kaser, Kurz: Faster remainder by direct computation, 2019).
 */
case class BucketMatcher(bucket: Int, buckets: Int) {
  private val multiplier = java.lang.Long.divideUnsigned(-1L, buckets) + 1
  private val largest = multiplier - 1 + Long.MinValue
  // Added to a hash: a multiple of `buckets` where the hash is in this bucket, and never negative.
  private val shift = buckets * ((1L << 31) / buckets + 2) - bucket

  def contains(hash: Int): Boolean = (hash + shift) * multiplier + Long.MinValue <= largest

  /** The bucket of a hash that is in another one. */
  def other(hash: Int): Option[Int] = Option.when(!contains(hash))(Math.floorMod(hash, buckets))

  /** The bucket of the first of these hashes that is in another one. */
  def other(hashes: Array[Int], count: Int): Option[Int] = {
    var row = 0
    while (row < count && contains(hashes(row))) row += 1
    if (row < count) other(hashes(row)) else None
  }
}
