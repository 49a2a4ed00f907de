package org.apache.spark.sql.execution.colocate.aggregate

import java.util.{HashMap => JHashMap}

import org.apache.spark.TaskContext
import org.apache.spark.memory.SparkOutOfMemoryError
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{JoinedRow, UnsafeRow}
import org.apache.spark.sql.catalyst.types.DataTypeUtils.fromAttributes
import org.apache.spark.sql.colocate.compat.SpilledGroups
import org.apache.spark.sql.execution.UnsafeKVExternalSorter
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.map.BytesToBytesMap

/**
 * The groups of one task: a hash table from keys to buffers. A buffer that gets longer is appended anew, and the old
 * one no longer counts. Where memory is short, all buffers are sorted by key and spilled, as in Spark's own hash
 * aggregate, and the parts of each group are merged at the end.
 *
 * @param task the number of the task
 * @param most groups that the table may have before it is spilled
 */
private[aggregate] class HashedGroups(
    projections: GroupProjections, task: Int, most: Int, peakMemory: SQLMetric, spilled: SQLMetric) {

  private val context = TaskContext.get()
  private val pageBytes = context.taskMemoryManager().pageSizeBytes()
  private val table = new BytesToBytesMap(context.taskMemoryManager(), 1 << 14, pageBytes)
  private var sorter: UnsafeKVExternalSorter = _

  private val keyOf = projections.key(task)
  private val first = projections.first(task)
  private val next = projections.next(task)
  private val result = projections.result(task)
  private val joined = new JoinedRow
  private val buffer = new UnsafeRow(projections.bufferTypes.size)

  context.addTaskCompletionListener[Unit] { _ =>
    table.free()
    if (sorter != null) sorter.cleanupResources()
  }

  def addAll(rows: Iterator[InternalRow]): Unit = {
    while (rows.hasNext) {
      val row = rows.next()
      val key = keyOf(row)
      if (table.numKeys() >= most || !add(key, row)) {
        spill()
        if (!add(key, row)) throw new SparkOutOfMemoryError("AGGREGATE_OUT_OF_MEMORY", new JHashMap())
      }
    }
    peakMemory.set(peakMemory.value.max(table.getPeakMemoryUsedBytes))
    context.taskMetrics().incPeakExecutionMemory(table.getPeakMemoryUsedBytes)
  }

  /** False if memory is short; then nothing has changed. */
  private def add(key: UnsafeRow, row: InternalRow): Boolean = {
    val at = table.lookup(key.getBaseObject, key.getBaseOffset, key.getSizeInBytes)
    if (!at.isDefined) append(at, key, first(row))
    else {
      buffer.pointTo(at.getValueBase, at.getValueOffset, at.getValueLength)
      val changed = next(joined(buffer, row))
      if (changed.getSizeInBytes > at.getValueLength) {
        val done = append(at, key, changed)
        if (done) buffer.setLong(0, 0L) // the old one
        done
      } else {
        Platform.copyMemory(
          changed.getBaseObject, changed.getBaseOffset, at.getValueBase, at.getValueOffset, changed.getSizeInBytes)
        true
      }
    }
  }

  private def append(at: BytesToBytesMap#Location, key: UnsafeRow, value: UnsafeRow): Boolean = at.append(
    key.getBaseObject, key.getBaseOffset, key.getSizeInBytes,
    value.getBaseObject, value.getBaseOffset, value.getSizeInBytes)

  private def spill(): Unit = {
    val before = context.taskMetrics().memoryBytesSpilled
    val sorted = SpilledGroups.of(
      fromAttributes(projections.keyTypes), fromAttributes(projections.bufferTypes), pageBytes, table)
    if (sorter == null) sorter = sorted else sorter.merge(sorted)
    spilled += context.taskMetrics().memoryBytesSpilled - before
  }

  /** One row for each group. The table's memory goes as the rows are read. */
  def results: Iterator[UnsafeRow] =
    if (sorter == null) new InTable
    else {
      spill()
      table.free()
      new Merged(sorter.sortedIterator())
    }

  private class InTable extends Iterator[UnsafeRow] {
    private val groups = table.destructiveIterator()
    private val key = new UnsafeRow(projections.keyTypes.size)
    private var found = false

    override def hasNext: Boolean = {
      while (!found && groups.hasNext) {
        val at = groups.next()
        key.pointTo(at.getKeyBase, at.getKeyOffset, at.getKeyLength)
        buffer.pointTo(at.getValueBase, at.getValueOffset, at.getValueLength)
        found = buffer.getLong(0) != 0
      }
      found
    }

    override def next(): UnsafeRow = {
      if (!hasNext) throw new NoSuchElementException
      found = false
      result(joined(key, buffer))
    }
  }

  private class Merged(parts: UnsafeKVExternalSorter#KVSorterIterator) extends Iterator[UnsafeRow] {
    private val merge = projections.merged(task)
    private var more = step()

    /** To the next buffer that counts. */
    private def step(): Boolean = {
      var is = parts.next()
      while (is && parts.getValue.getLong(0) == 0) is = parts.next()
      is
    }

    override def hasNext: Boolean = more

    override def next(): UnsafeRow = {
      if (!more) throw new NoSuchElementException
      val key = parts.getKey.copy()
      var all = parts.getValue.copy()
      more = step()
      while (more && parts.getKey == key) {
        all = merge(joined(all, parts.getValue)).copy()
        more = step()
      }
      result(joined(key, all))
    }
  }
}
