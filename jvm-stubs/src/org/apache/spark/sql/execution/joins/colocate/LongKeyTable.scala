package org.apache.spark.sql.execution.joins.colocate

import org.apache.spark.memory.{MemoryConsumer, SparkOutOfMemoryError, TaskMemoryManager}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.LongType

/**
 * The build side of one task's hash join by a key that is one long, or was made one by Spark
 * (`HashJoin.rewriteKeyExpr`).
 *
 * Rows are kept first and entered into the slots once all are there. So the number of rows and the range of their keys
 * are known, and nothing is hashed twice. In the slots the rows lie in the order of their keys: tables that are loaded
 * in about the order of their ids, as most are, are looked up in that order, and neighbours share a cache line. Where
 * keys are so uneven that many rows want the same slots, they are hashed instead.
 *
 * Rows of one key are linked, wherever they are. Each link that leads far waits for main memory, so once as many
 * were followed as there are rows, all rows are copied so that those of one key are neighbours. That is at worst twice
 * the work of the best choice, and in a join with many pairs it makes the links short.
 *
 * Filled by one task and read by it alone. Memory is the task's, in whole pages; there is nothing to spill.
 */
final class LongKeyTable(memory: TaskMemoryManager, fields: Int, wanted: LongKeyTable.Wanted)
    extends MemoryConsumer(memory, memory.getTungstenMemoryMode) {

  private[this] val anyRow = wanted == LongKeyTable.AnyOfKey
  private[this] var rows = new KeyedRows(this)
  private[this] val keyless = new KeyedRows(this)
  private[this] var slots: KeySlots = KeySlots.none
  private[this] val row = new UnsafeRow(fields)
  private[this] var matches: KeyedRows#Chain = _

  private[this] var lastKey = 0L
  private[this] var leapsToGather = Long.MaxValue
  private[this] var gathered = false

  private def append(key: Long, value: UnsafeRow): Unit =
    if (!anyRow || key != lastKey || rows.count == 0) {
      rows.append(key, value)
      lastKey = key
    }

  private def appendKeyless(value: UnsafeRow): Unit = if (wanted == LongKeyTable.Every) keyless.append(0, value)

  private def finish(): Unit = {
    slots = KeySlots.of(rows, this)
    matches = rows.chain(row)
    leapsToGather = math.max(rows.count, LongKeyTable.LeapsAnyway)
  }

  /** The rows of a key, null if there is none. The iterator, and each row of it, is valid until the next call. */
  def get(key: Long): Iterator[UnsafeRow] = {
    if (matches.leaps > leapsToGather) gather()
    val first = slots.find(rows, key)
    if (first == 0) null else matches.from(first)
  }

  /** Needs the memory of the rows a second time, for a while; where there is none, they stay where they are. */
  private def gather(): Unit = {
    leapsToGather = Long.MaxValue
    val copies = new KeyedRows(this)
    try {
      slots.gather(rows, copies)
      rows.free()
      rows = copies
      matches = rows.chain(row)
      gathered = true
    } catch {
      case _: SparkOutOfMemoryError =>
        copies.free()
        slots.fill(rows)
    }
  }

  /** Were the rows of each key put side by side? */
  def isGathered: Boolean = gathered

  /** Marks the row that came last from `get`: it has a partner. */
  def mark(): Unit = rows.mark(matches.last)

  /** The rows that are not marked when it comes to them. To be read once no key is looked up any more. */
  def unmarked(): Iterator[UnsafeRow] = Iterator(() => rows, () => keyless).flatMap(of => new Unmarked(of()))

  override def spill(size: Long, trigger: MemoryConsumer): Long = 0L

  def close(): Unit = {
    slots.free(this)
    slots = KeySlots.none
    rows.free()
    keyless.free()
  }

  private final class Unmarked(of: KeyedRows) extends Iterator[UnsafeRow] {
    private[this] val walk = new of.Walk
    private[this] var at: Long = 0

    override def hasNext: Boolean = {
      if (at == 0) at = walk.next()
      while (at != 0 && of.isMarked(at)) at = walk.next()
      at != 0
    }

    override def next(): UnsafeRow = {
      if (!hasNext) throw new NoSuchElementException
      of.pointTo(at, row)
      at = 0
      row
    }
  }
}

object LongKeyTable {

  /** Tables that are smaller than that are in the cache. */
  private val LeapsAnyway = 1L << 16

  /** Which rows a join needs of its build side. */
  sealed trait Wanted

  /** One row of each key is enough: of neighbours with the same key, the first is taken. */
  case object AnyOfKey extends Wanted

  case object WithKey extends Wanted

  /** Those without a key as well. */
  case object Every extends Wanted

  /** @param key of a row of `input` */
  def build(
      input: Iterator[InternalRow],
      key: Expression,
      fields: Int,
      wanted: Wanted,
      memory: TaskMemoryManager): LongKeyTable = {
    val table = new LongKeyTable(memory, fields, wanted)
    key match {
      case BoundReference(at, LongType, _) => byColumn(table, input, at)
      case _ => byExpression(table, input, key)
    }
    table.finish()
    table
  }

  private def byColumn(table: LongKeyTable, input: Iterator[InternalRow], at: Int): Unit =
    while (input.hasNext) {
      val row = input.next().asInstanceOf[UnsafeRow]
      if (row.isNullAt(at)) table.appendKeyless(row) else table.append(row.getLong(at), row)
    }

  private def byExpression(table: LongKeyTable, input: Iterator[InternalRow], key: Expression): Unit = {
    val keyOf = UnsafeProjection.create(Seq(key))
    while (input.hasNext) {
      val row = input.next().asInstanceOf[UnsafeRow]
      val made = keyOf(row)
      if (made.isNullAt(0)) table.appendKeyless(row) else table.append(made.getLong(0), row)
    }
  }
}
