package org.apache.spark.sql.execution.colocate.shuffle

import java.io.DataOutputStream
import java.lang.{Long => Bits}
import scala.annotation.switch

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/** Collects packed rows. Not thread-safe. */
final class RowPacker(form: PackedForm) {
  import PackedForm._

  private[this] val kinds = form.kinds
  private[this] val words = form.words
  private[this] val nullWords = form.nullWords
  private[this] val fixedBytes = form.headBytes + 8 * form.words + Slack
  private[this] var block = new Array[Byte](fixedBytes)
  private[this] var end = 0

  /** Bytes collected. */
  def size: Int = end

  def add(row: UnsafeRow): Unit = {
    reserve(end.toLong + fixedBytes)
    val base = row.getBaseObject
    val start = row.getBaseOffset
    var head = end
    var at = end + form.headBytes
    var i = 0
    while (i < words) {
      val word = Platform.getLong(base, start + 8L * i)
      val packed = (kinds(i): @switch) match {
        case Plain => word
        case Signed => (word << 1) ^ (word >> 63)
        case Fraction => Bits.reverseBytes(word)
        case Content if row.isNullAt(i - nullWords) => 0L
        case _ => word & 0xffffffffL
      }
      val bytes = (71 - Bits.numberOfLeadingZeros(packed)) >>> 3
      Platform.putLong(block, Platform.BYTE_ARRAY_OFFSET + at, packed)
      at += bytes
      if ((i & 1) == 0) block(head) = bytes.toByte
      else {
        block(head) = (block(head) | bytes << 4).toByte
        head += 1
      }
      if (kinds(i) >= Content && packed != 0) {
        reserve(at + packed + fixedBytes)
        copy(row, (word >>> 32).toInt, packed.toInt, at)
        at += packed.toInt
      }
      i += 1
    }
    end = at
  }

  /** Most contents are short, and lie in whole words of their own. */
  private def copy(row: UnsafeRow, offset: Int, length: Int, at: Int): Unit = {
    val from = row.getBaseOffset + offset
    val to = Platform.BYTE_ARRAY_OFFSET + at.toLong
    if (length <= 64 && offset + ((length + 7) & ~7) <= row.getSizeInBytes) {
      var i = 0
      while (i < length) {
        Platform.putLong(block, to + i, Platform.getLong(row.getBaseObject, from + i))
        i += 8
      }
    } else Platform.copyMemory(row.getBaseObject, from, block, to, length)
  }

  private def reserve(bytes: Long): Unit = if (bytes > block.length) block = grown(block, bytes)

  /** Writes the rows collected as one block, their bytes' number first, and begins anew. */
  def writeTo(out: DataOutputStream): Unit = if (end > 0) {
    out.writeInt(end)
    out.write(block, 0, end)
    end = 0
  }
}
