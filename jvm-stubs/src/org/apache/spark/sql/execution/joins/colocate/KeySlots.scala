package org.apache.spark.sql.execution.joins.colocate

import org.apache.spark.memory.MemoryConsumer
import org.apache.spark.sql.errors.QueryExecutionErrors
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.array.LongArray

/**
 * Where the rows of a key are: an array of addresses, the first of each key's rows; 0 is an empty slot. A key that
 * finds its slot taken goes into the next free one.
 *
 * @param length of the array; at least a third of it is empty
 * @param shift  in order: a key's slot is its distance from `min` divided by 2^shift. Hashed: the bits of the hash that
 *               are left out
 */
private[colocate] final class KeySlots private (
    array: LongArray,
    length: Int,
    inOrder: Boolean,
    min: Long,
    max: Long,
    shift: Int) {

  private[this] val base: AnyRef = if (array == null) null else array.memoryBlock.getBaseObject
  private[this] val offset: Long = if (array == null) 0 else array.memoryBlock.getBaseOffset

  /** The address of the first row of a key, 0 if there is none. */
  def find(rows: KeyedRows, key: Long): Long = if (key < min || key > max) 0 else at(slotOf(rows, key))

  /** Where the key is, or the free slot where it would be. */
  private def slotOf(rows: KeyedRows, key: Long): Int = {
    var slot = first(key)
    var address = at(slot)
    while (address != 0 && rows.key(address) != key) {
      slot = if (slot + 1 == length) 0 else slot + 1
      address = at(slot)
    }
    slot
  }

  private def first(key: Long): Int =
    if (inOrder) ((key - min) >>> shift).toInt else ((key * KeySlots.Spread) >>> shift).toInt

  private def at(slot: Int): Long = Platform.getLong(base, offset + slot * 8L)

  /** Leads to copies in `to`, those of each key side by side. Thrown out of it, slots must be `fill`ed again. */
  def gather(from: KeyedRows, to: KeyedRows): Unit = {
    var slot = 0
    while (slot < length) {
      val first = at(slot)
      if (first != 0) Platform.putLong(base, offset + slot * 8L, to.appendLinked(from, first))
      slot += 1
    }
  }

  /** False if the rows collide so often, or somewhere so much, that these slots are not worth having. */
  def fill(rows: KeyedRows): Boolean = {
    array.zeroOut()
    val most = if (inOrder) KeySlots.StepsOfOneRow else length
    var left = if (inOrder) KeySlots.StepsPerRow * rows.count + KeySlots.StepsAnyway else Long.MaxValue
    val walk = new rows.Walk
    var address = walk.next()
    var goOn = true
    while (goOn && address != 0) {
      val key = rows.key(address)
      val slot = slotOf(rows, key)
      val other = at(slot)
      if (other != 0) rows.link(address, other)
      Platform.putLong(base, offset + slot * 8L, address)
      val behind = slot - first(key)
      val steps = if (behind < 0) behind + length else behind
      left -= steps
      goOn = left >= 0 && steps <= most
      address = walk.next()
    }
    goOn
  }

  def free(memory: MemoryConsumer): Unit = if (array != null) memory.freeArray(array)
}

private[colocate] object KeySlots {

  val none: KeySlots = new KeySlots(null, 0, inOrder = true, min = 1, max = 0, shift = 0)

  /** 2^64 over the golden ratio: the upper bits of a product with it are spread evenly, for keys in any pattern. */
  private val Spread = 0x9e3779b97f4a7c15L

  /** Keys that are as good as random need one step each where two thirds of the slots are taken. */
  private val StepsPerRow = 2

  /** Few keys that crowd in a corner add little to the sum, and much to the time if every row looks them up. */
  private val StepsOfOneRow = 128
  private val StepsAnyway = 64

  /** So that twice as many can be counted. */
  private val MostSlots = 1L << 29

  def of(rows: KeyedRows, memory: MemoryConsumer): KeySlots =
    if (rows.count == 0) none
    else {
      val ordered = inOrder(rows, memory)
      if (ordered.fill(rows)) ordered
      else { // links that were made stay true: to the row of the same key that came before
        ordered.free(memory)
        val hashed = spread(rows, memory)
        hashed.fill(rows)
        hashed
      }
    }

  /** One and a half to three slots a row, spread over the range of the keys. */
  private def inOrder(rows: KeyedRows, memory: MemoryConsumer): KeySlots = {
    val range = rows.maxKey - rows.minKey // as an unsigned number
    var shift = 0
    while (shift < 63 && java.lang.Long.compareUnsigned(range >>> (shift + 1), wanted(rows)) >= 0) shift += 1
    val length = ((range >>> shift) + 1).max(wanted(rows)).toInt
    new KeySlots(memory.allocateArray(length), length, inOrder = true, rows.minKey, rows.maxKey, shift)
  }

  private def spread(rows: KeyedRows, memory: MemoryConsumer): KeySlots = {
    val bits = 64 - java.lang.Long.numberOfLeadingZeros(wanted(rows) - 1)
    new KeySlots(memory.allocateArray(1L << bits), 1 << bits, inOrder = false, rows.minKey, rows.maxKey, 64 - bits)
  }

  private def wanted(rows: KeyedRows): Long = {
    val slots = rows.count + rows.count / 2 + 1
    if (slots > MostSlots) throw QueryExecutionErrors.cannotBuildHashedRelationWithUniqueKeysExceededError()
    slots
  }
}
