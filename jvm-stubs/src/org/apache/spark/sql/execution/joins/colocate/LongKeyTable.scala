package org.apache.spark.sql.execution.joins.colocate

import org.apache.spark.memory.{MemoryConsumer, TaskMemoryManager}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.LongType

/**
 * The build side of one task's hash join by a key that is one long, or was made one by Spark (`HashJoin.rewriteKeyExpr`).
 *
 * Rows are kept first and entered into the slots once all are there. So the number of rows and the range of their keys
 * are known, and nothing is hashed twice. In the slots the rows lie in the order of their keys: tables that are loaded in
 * about the order of their ids, as most are, are looked up in that order, and neighbours share a cache line. Where keys
 * are so uneven that many rows want the same slots, they are hashed instead.
 *
 * Filled by one task and read by it alone. Memory is the task's, in whole pages; there is nothing to spill.
 */
final class LongKeyTable(memory: TaskMemoryManager, fields: Int, anyRow: Boolean)
    extends MemoryConsumer(memory, memory.getTungstenMemoryMode) {

  private[this] val rows = new KeyedRows(this)
  private[this] var slots: KeySlots = KeySlots.none
  private[this] val row = new UnsafeRow(fields)
  private[this] val matches = new Matches

  private[this] var lastKey = 0L

  private def append(key: Long, value: UnsafeRow): Unit =
    if (!anyRow || key != lastKey || rows.count == 0) {
      rows.append(key, value)
      lastKey = key
    }

  private def finish(): Unit = slots = KeySlots.of(rows, this)

  /** The rows of a key, null if there is none. The iterator, and each row of it, is valid until the next call. */
  def get(key: Long): Iterator[UnsafeRow] = {
    val at = slots.find(rows, key)
    if (at == 0) null
    else {
      matches.at = at
      matches
    }
  }

  override def spill(size: Long, trigger: MemoryConsumer): Long = 0L

  def close(): Unit = {
    slots.free(this)
    slots = KeySlots.none
    rows.free()
  }

  private final class Matches extends Iterator[UnsafeRow] {
    var at: Long = 0

    override def hasNext: Boolean = at != 0

    override def next(): UnsafeRow = {
      rows.pointTo(at, row)
      at = rows.next(at)
      row
    }
  }
}

object LongKeyTable {

  /**
   * @param key    of a row of `input`; rows without a key are left out
   * @param anyRow one row of each key is enough: of neighbours with the same key, the first is taken
   */
  def build(
      input: Iterator[InternalRow],
      key: Expression,
      fields: Int,
      anyRow: Boolean,
      memory: TaskMemoryManager): LongKeyTable = {
    val table = new LongKeyTable(memory, fields, anyRow)
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
      if (!row.isNullAt(at)) table.append(row.getLong(at), row)
    }

  private def byExpression(table: LongKeyTable, input: Iterator[InternalRow], key: Expression): Unit = {
    val keyOf = UnsafeProjection.create(Seq(key))
    while (input.hasNext) {
      val row = input.next().asInstanceOf[UnsafeRow]
      val made = keyOf(row)
      if (!made.isNullAt(0)) table.append(made.getLong(0), row)
    }
  }
}
