package org.apache.spark.sql.colocate.trust

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Murmur3Hash, UnsafeProjection}
import org.apache.spark.sql.types.{DateType, IntegerType, LongType, TimestampNTZType, TimestampType}
import org.apache.spark.sql.vectorized.ColumnarBatch
import org.apache.spark.unsafe.hash.Murmur3_x86_32

/** Spark's hash of a row's bucket keys. It is sent to tasks; each file is read with one that is open. */
case class KeyHash(keys: Seq[BoundReference]) {

  def open(): OpenKeyHash =
    if (keys.forall(key => isInt(key) || isLong(key))) new HashOfWords(keys, keys.map(_.ordinal).toArray, keys.map(isLong).toArray)
    else new OpenKeyHash(keys)

  private def isInt(key: BoundReference): Boolean = key.dataType == IntegerType || key.dataType == DateType

  private def isLong(key: BoundReference): Boolean = key.dataType match {
    case LongType | TimestampType | TimestampNTZType => true
    case _ => false
  }
}

class OpenKeyHash(keys: Seq[BoundReference]) {
  private lazy val hashed = UnsafeProjection.create(Seq(new Murmur3Hash(keys)))

  def of(row: InternalRow): Int = hashed(row).getInt(0)

  def of(batch: ColumnarBatch, row: Int): Int = of(batch.getRow(row))
}

/**
 * Keys that are hashed as one word each, as most tables have them: read from the batch's columns, without a row
 * in between. A null leaves the hash as it is.
 */
class HashOfWords(keys: Seq[BoundReference], ordinals: Array[Int], long: Array[Boolean]) extends OpenKeyHash(keys) {
  private val seed = new Murmur3Hash(keys).seed

  override def of(batch: ColumnarBatch, row: Int): Int = {
    var hash = seed
    var key = 0
    while (key < ordinals.length) {
      val column = batch.column(ordinals(key))
      if (!column.isNullAt(row)) {
        hash =
          if (long(key)) Murmur3_x86_32.hashLong(column.getLong(row), hash)
          else Murmur3_x86_32.hashInt(column.getInt(row), hash)
      }
      key += 1
    }
    hash
  }
}
