package org.apache.spark.sql.execution.joins.colocate

import org.apache.spark.memory.MemoryConsumer
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.errors.QueryExecutionErrors
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.array.LongArray

/**
 * Rows with their keys, one behind the other in pages, each with a link to another row of the same key:
 *
 * {{{
 *   key | next (36 bits), bytes (28 bits) | row ...
 * }}}
 *
 * A row's address is its page and the word where it starts there; 0 means none. Rows are whole words, so the lowest
 * bit of `bytes` is free: it marks a row.
 */
private[colocate] final class KeyedRows(memory: MemoryConsumer) {
  import KeyedRows._

  private[this] var pages = new Array[LongArray](8)
  private[this] var bases = new Array[AnyRef](8)
  private[this] var offsets = new Array[Long](8)
  private[this] var ends = new Array[Int](8) // in words
  private[this] var pageCount = 0

  private[this] var base: AnyRef = _
  private[this] var offset = 0L
  private[this] var cursor = 0
  private[this] var limit = 0

  private[this] var rowCount = 0L
  private[this] var least = Long.MaxValue
  private[this] var most = Long.MinValue

  def count: Long = rowCount

  /** The least key; greater than `maxKey` if there are none. */
  def minKey: Long = least

  def maxKey: Long = most

  def append(key: Long, row: UnsafeRow): Unit = {
    val bytes = row.getSizeInBytes
    if (bytes >= (1 << BytesBits)) throw QueryExecutionErrors.rowLargerThan256MUnsupportedError()
    append(key, bytes, row.getBaseObject, row.getBaseOffset)
  }

  /**
   * A copy of the rows that start at `first` elsewhere, one behind the other in the order of their links. Its address.
   */
  def appendLinked(from: KeyedRows, first: Long): Long = {
    val start = from.copyTo(this, first)
    var last = start
    var source = from.next(first)
    while (source != 0) {
      val copy = from.copyTo(this, source)
      link(last, copy)
      last = copy
      source = from.next(source)
    }
    start
  }

  private def copyTo(to: KeyedRows, address: Long): Long = {
    val copy = to.append(key(address), bytes(address), pageOf(address), placeOf(address) + 8 * HeaderWords)
    if (isMarked(address)) to.mark(copy)
    copy
  }

  private def append(key: Long, bytes: Int, from: AnyRef, start: Long): Long = {
    val words = HeaderWords + bytes / 8
    if (words > limit - cursor) addPage(words)
    val to = offset + cursor * 8L
    Platform.putLong(base, to, key)
    Platform.putLong(base, to + 8, bytes)
    Platform.copyMemory(from, start, base, to + 8 * HeaderWords, bytes)
    val address = ((pageCount - 1).toLong << WordBits) | cursor
    cursor += words
    rowCount += 1
    if (key < least) least = key
    if (key > most) most = key
    address
  }

  def key(address: Long): Long = Platform.getLong(pageOf(address), placeOf(address))

  def next(address: Long): Long = header(address) >>> BytesBits

  /** Puts `address` in front of the rows that start at `next`. */
  def link(address: Long, next: Long): Unit =
    setHeader(address, (next << BytesBits) | (header(address) & (BytesMask | Mark)))

  def mark(address: Long): Unit = setHeader(address, header(address) | Mark)

  def isMarked(address: Long): Boolean = (header(address) & Mark) != 0

  def pointTo(address: Long, row: UnsafeRow): Unit =
    row.pointTo(pageOf(address), placeOf(address) + 8 * HeaderWords, bytes(address))

  private def bytes(address: Long): Int = (header(address) & BytesMask).toInt

  /** The second word. */
  private def header(address: Long): Long = Platform.getLong(pageOf(address), placeOf(address) + 8)

  private def setHeader(address: Long, header: Long): Unit =
    Platform.putLong(pageOf(address), placeOf(address) + 8, header)

  private def pageOf(address: Long): AnyRef = bases((address >>> WordBits).toInt)

  private def placeOf(address: Long): Long = offsets((address >>> WordBits).toInt) + ((address & WordMask) << 3)

  /** To be made once all rows are there. */
  def chain(row: UnsafeRow): Chain = new Chain(row)

  /** Points `row` to the rows that are linked, from a first one on. */
  final class Chain(row: UnsafeRow) extends Iterator[UnsafeRow] {
    private[this] var at = 0L
    private[this] var seen = 0L
    private[this] var far = 0L
    private[this] var page = -1
    private[this] var base: AnyRef = _
    private[this] var offset = 0L

    def from(first: Long): this.type = {
      at = first
      this
    }

    /** The address of the row that came last. */
    def last: Long = seen

    /** How often the next row was so far away that it was not read along with the one before. */
    def leaps: Long = far

    override def hasNext: Boolean = at != 0

    override def next(): UnsafeRow = {
      seen = at
      val on = (seen >>> WordBits).toInt
      if (on != page) turnTo(on)
      val place = offset + ((seen & WordMask) << 3)
      val header = Platform.getLong(base, place + 8)
      row.pointTo(base, place + 8 * HeaderWords, (header & BytesMask).toInt)
      at = header >>> BytesBits
      if (at != 0 && math.abs(at - seen) > NearWords) far += 1
      row
    }

    private def turnTo(other: Int): Unit = {
      page = other
      base = bases(other)
      offset = offsets(other)
    }
  }

  /** The rows' addresses in the order in which they came; those of rows that come meanwhile as well. */
  final class Walk {
    private[this] var page = 0
    private[this] var word = FirstWord

    /** 0 at the end. */
    def next(): Long = {
      while (page < pageCount && word >= endOf(page)) {
        page += 1
        word = FirstWord
      }
      if (page == pageCount) 0
      else {
        val address = (page.toLong << WordBits) | word
        word += HeaderWords + bytes(address) / 8
        address
      }
    }
  }

  private def endOf(page: Int): Int = if (page + 1 == pageCount) cursor else ends(page)

  def free(): Unit = {
    while (pageCount > 0) {
      pageCount -= 1
      memory.freeArray(pages(pageCount))
      pages(pageCount) = null
      bases(pageCount) = null
    }
    base = null
    cursor = 0
    limit = 0
  }

  /** Small tasks get small pages; a row that is larger than any page gets its own. */
  private def addPage(words: Int): Unit = {
    if (pageCount > 0) ends(pageCount - 1) = cursor
    if (pageCount == pages.length) makeRoom()
    val size = math.max(FirstWord + words, math.min(LeastWords << math.min(pageCount, 9), MostWords))
    val page = memory.allocateArray(size)
    pages(pageCount) = page
    base = page.memoryBlock.getBaseObject
    offset = page.memoryBlock.getBaseOffset
    bases(pageCount) = base
    offsets(pageCount) = offset
    pageCount += 1
    cursor = FirstWord
    limit = size
  }

  private def makeRoom(): Unit = {
    pages = java.util.Arrays.copyOf(pages, 2 * pageCount)
    bases = java.util.Arrays.copyOf(bases, 2 * pageCount)
    offsets = java.util.Arrays.copyOf(offsets, 2 * pageCount)
    ends = java.util.Arrays.copyOf(ends, 2 * pageCount)
  }
}

private[colocate] object KeyedRows {

  private val BytesBits = 28
  private val BytesMask = (1L << BytesBits) - 8
  private val Mark = 1L
  private val WordBits = 22
  private val WordMask = (1L << WordBits) - 1
  private val HeaderWords = 2

  /** Half a kilobyte, a few lines of the cache. */
  private val NearWords = 64

  /** Not 0, so that no row has the address 0. */
  private val FirstWord = 1

  /** 64 KiB and 32 MiB. */
  private val LeastWords = 1 << 13
  private val MostWords = 1 << WordBits
}
