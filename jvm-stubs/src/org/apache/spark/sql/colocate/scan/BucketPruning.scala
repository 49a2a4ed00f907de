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
      found.foreach(hash => set.set(bucketOf(hash, buckets)))
      set
    }

  /** The hashes of all keys that the filters leave. */
  def hashes(keys: Seq[Attribute], filters: Seq[Expression]): Option[Seq[Int]] = {
    val conjuncts = filters.filter(_.deterministic)
    val values = keys.map(key => conjuncts.flatMap(valuesOf(key, _)).minByOption(_.size))
    Option.when(values.forall(_.isDefined) && values.flatten.map(_.size.toLong).product <= MaxCombinations) {
      combinations(values.flatten).map(key => new Murmur3Hash(key).eval(InternalRow.empty).asInstanceOf[Int])
    }
  }

  /** The same number as `pmod(hash, buckets)`. */
  def bucketOf(hash: Int, buckets: Int): Int = Math.floorMod(hash, buckets)

  private def valuesOf(key: Attribute, filter: Expression): Option[Seq[Literal]] = filter match {
    case EqualTo(a: Attribute, value: Literal) if same(a, key, value) => Some(Seq(value))
    case EqualTo(value: Literal, a: Attribute) if same(a, key, value) => Some(Seq(value))
    case EqualNullSafe(a: Attribute, value: Literal) if same(a, key, value) => Some(Seq(value))
    case EqualNullSafe(value: Literal, a: Attribute) if same(a, key, value) => Some(Seq(value))
    case In(a: Attribute, list) if list.forall { case v: Literal => same(a, key, v); case _ => false } =>
      Some(list.collect { case v: Literal => v })
    case InSet(a: Attribute, set) if a.exprId == key.exprId => Some(set.toSeq.map(Literal(_, key.dataType)))
    case _ => None
  }

  private def same(a: Attribute, key: Attribute, value: Literal): Boolean =
    a.exprId == key.exprId && value.dataType == key.dataType

  private def combinations(values: Seq[Seq[Literal]]): Seq[Seq[Literal]] =
    values.foldLeft(Seq(Seq.empty[Literal]))((rows, column) => rows.flatMap(row => column.map(row :+ _)))
}
