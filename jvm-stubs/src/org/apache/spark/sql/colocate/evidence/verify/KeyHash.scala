package org.apache.spark.sql.colocate.evidence.verify

import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Murmur3Hash, UnsafeProjection}
import org.apache.spark.sql.colocate.layout.BucketLayout
import org.apache.spark.sql.types.{DateType, IntegerType, LongType, StructType, TimestampNTZType, TimestampType}
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}
import org.apache.spark.unsafe.hash.Murmur3_x86_32

/** Spark's hash of a row's bucket keys. It is sent to tasks; each file is read with one that is open. */
case class KeyHash(keys: Seq[BoundReference]) {

  def open(): OpenKeyHash =
    if (keys.forall(key => isInt(key) || isLong(key)))
      new HashOfWords(keys, keys.map(_.ordinal).toArray, keys.map(isLong).toArray)
    else new OpenKeyHash(keys)

  private def isInt(key: BoundReference): Boolean = key.dataType == IntegerType || key.dataType == DateType

  private def isLong(key: BoundReference): Boolean = key.dataType match {
    case LongType | TimestampType | TimestampNTZType => true
    case _ => false
  }
}

object KeyHash {

  /** @param columns what the rows hold that will be hashed, the layout's keys among it */
  def of(layout: BucketLayout, columns: StructType): KeyHash = KeyHash(layout.keys.map { key =>
    val ordinal = columns.fieldNames.indexOf(key)
    BoundReference(ordinal, columns(ordinal).dataType, nullable = true)
  })
}

class OpenKeyHash(keys: Seq[BoundReference]) {
  private lazy val hashed = UnsafeProjection.create(Seq(new Murmur3Hash(keys)))

  def of(row: InternalRow): Int = hashed(row).getInt(0)

  /** A hash for each row of the batch. The array is filled anew by the next call, and may be longer than the batch. */
  final def of(batch: ColumnarBatch): Array[Int] = {
    if (hashes.length < batch.numRows) hashes = new Array[Int](batch.numRows)
    fill(batch, hashes)
    hashes
  }

  private var hashes = Array.emptyIntArray

  /** The bucket of the first row in another one than claimed, of what a reader gives: a batch, or a row. */
  final def other(item: Any, claimed: BucketMatcher): Option[Int] = item match {
    case batch: ColumnarBatch => claimed.other(of(batch), batch.numRows)
    case row => claimed.other(of(row.asInstanceOf[InternalRow]))
  }

  protected def fill(batch: ColumnarBatch, hashes: Array[Int]): Unit = {
    var row = 0
    while (row < batch.numRows) {
      hashes(row) = of(batch.getRow(row))
      row += 1
    }
  }
}

/**
 * Keys that are hashed as one word each, as most tables have them: a column after the other in a loop over arrays,
 * which takes a third of the time that a row after the other takes. A null leaves the hash as it is.
 */
class HashOfWords(keys: Seq[BoundReference], ordinals: Array[Int], long: Array[Boolean]) extends OpenKeyHash(keys) {
  private val seed = new Murmur3Hash(keys).seed

  override protected def fill(batch: ColumnarBatch, hashes: Array[Int]): Unit = {
    Arrays.fill(hashes, 0, batch.numRows, seed)
    var key = 0
    while (key < ordinals.length) {
      val column = batch.column(ordinals(key))
      if (column.hasNull) addPresent(column, long(key), hashes, batch.numRows)
      else if (long(key)) addLongs(column.getLongs(0, batch.numRows), hashes)
      else addInts(column.getInts(0, batch.numRows), hashes)
      key += 1
    }
  }

  private def addLongs(values: Array[Long], hashes: Array[Int]): Unit = {
    var row = 0
    while (row < values.length) {
      hashes(row) = Murmur3_x86_32.hashLong(values(row), hashes(row))
      row += 1
    }
  }

  private def addInts(values: Array[Int], hashes: Array[Int]): Unit = {
    var row = 0
    while (row < values.length) {
      hashes(row) = Murmur3_x86_32.hashInt(values(row), hashes(row))
      row += 1
    }
  }

  private def addPresent(column: ColumnVector, long: Boolean, hashes: Array[Int], rows: Int): Unit = {
    var row = 0
    while (row < rows) {
      if (!column.isNullAt(row)) {
        hashes(row) =
          if (long) Murmur3_x86_32.hashLong(column.getLong(row), hashes(row))
          else Murmur3_x86_32.hashInt(column.getInt(row), hashes(row))
      }
      row += 1
    }
  }
}
