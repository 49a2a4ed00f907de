package org.apache.spark.sql.execution.colocate.shuffle

import java.io.{DataInputStream, IOException}
import java.lang.{Long => Bits}
import scala.annotation.switch

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/** Makes rows of the blocks that a [[RowPacker]] wrote. The row object is reused: it is valid until the next one. */
final class RowUnpacker(form: PackedForm) {
  import PackedForm._

  private[this] val kinds = form.kinds
  private[this] val words = form.words
  private[this] val nullWords = form.nullWords
  private[this] var block = new Array[Byte](Slack)
  private[this] var at = 0
  private[this] var end = 0
  private[this] val row = new UnsafeRow(form.fields)
  private[this] var room = new Array[Byte](8 * words + Slack)

  /** Is there another row in the block? */
  def hasNext: Boolean = at < end

  /** Reads the next block, which has a row at least. */
  def readFrom(in: DataInputStream, bytes: Int): Unit = {
    if (bytes <= 0) throw broken()
    if (block.length < bytes + Slack) block = new Array[Byte](bytes + Slack)
    in.readFully(block, 0, bytes)
    at = 0
    end = bytes
  }

  def next(): UnsafeRow = {
    var head = at
    at += form.headBytes
    if (at > end) throw broken()
    var free = 8 * words
    var i = 0
    while (i < words) {
      val bytes = if ((i & 1) == 0) block(head) & 15 else (block(head) >>> 4) & 15
      head += i & 1
      if (at + bytes > end) throw broken()
      val packed = Platform.getLong(block, Platform.BYTE_ARRAY_OFFSET + at) & Mask(bytes)
      at += bytes
      val word = (kinds(i): @switch) match {
        case Plain => packed
        case Signed => (packed >>> 1) ^ -(packed & 1)
        case Fraction => Bits.reverseBytes(packed)
        case Content if packed == 0 && isNull(i) => 0L
        case kind =>
          val size = if (kind == Room) RoomBytes else ((packed + 7) & ~7).toInt
          place(packed, free, size)
          val placed = (free.toLong << 32) | packed
          free += size
          placed
      }
      Platform.putLong(room, Platform.BYTE_ARRAY_OFFSET + 8L * i, word)
      i += 1
    }
    row.pointTo(room, Platform.BYTE_ARRAY_OFFSET, free)
    row
  }

  private def isNull(word: Int): Boolean = {
    val field = word - nullWords
    ((Platform.getLong(room, Platform.BYTE_ARRAY_OFFSET + 8L * (field >> 6)) >>> (field & 63)) & 1) != 0
  }

  /** Moves a content from the block to its place in the row, with zeros up to `size`. */
  private def place(length: Long, free: Int, size: Int): Unit = {
    if (length > end - at || length > size) throw broken()
    if (free.toLong + size + Slack > room.length) room = grown(room, free.toLong + size + Slack)
    val from = Platform.BYTE_ARRAY_OFFSET + at.toLong
    val to = Platform.BYTE_ARRAY_OFFSET + free.toLong
    if (size <= 64) {
      var i = 0
      while (i < size) {
        val rest = math.min(8, math.max(0, length.toInt - i))
        Platform.putLong(room, to + i, Platform.getLong(block, from + i) & Mask(rest))
        i += 8
      }
    } else {
      Platform.putLong(room, to + size - 8, 0)
      Platform.copyMemory(block, from, room, to, length)
    }
    at += length.toInt
  }

  private def broken(): IOException = new IOException("A block of packed rows ends within a row, or has another form")
}
