package org.apache.spark.sql.colocate.scan

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.util.collection.BitSet

/**
 * The buckets that a filter on the keys leaves: `key = literal`, `key <=> literal` and `key IN (literals)`, for every
 * bucket key. Each combination is hashed as a row with these keys would be.
 */
object BucketPruning {

  private val MaxCombinations = 1000

  /** None where the filters do not fix every key. */
  def selected(keys: Seq[Attribute], filters: Seq[Expression], buckets: Int): Option[BitSet] =
    hashes(keys, filters).map { found =>
      val set = new BitSet(buckets)
      found.foreach(hash => set.set(Math.floorMod(hash, buckets)))
      set
    }

  /** The hashes of all keys that the filters leave. */
  def hashes(keys: Seq[Attribute], filters: Seq[Expression]): Option[Seq[Int]] = {
    val conjuncts = filters.filter(_.deterministic)
    val values = keys.flatMap(ValuesOfKey.fewest(_, conjuncts))
    if (values.size < keys.size) None
    else ValuesOfKey.combinations(values, MaxCombinations).map(_.map { key =>
      new Murmur3Hash(key).eval(InternalRow.empty).asInstanceOf[Int]
    })
  }
}
