package org.apache.spark.sql.execution.colocate.merge

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeProjection}
import org.apache.spark.sql.execution.UnsafeExternalRowSorter
import org.apache.spark.sql.vectorized.ColumnarBatch

/**
 * The rows of files that are not sorted. They are sorted as Spark's SortExec sorts, which spills what does not fit into
 * memory.
 */
private[merge] class SortedRows(
    batches: Iterator[ColumnarBatch], input: Seq[Attribute], order: KeyOrder, sorter: UnsafeExternalRowSorter)
    extends SortedRun {

  private lazy val rows = {
    val toUnsafe = UnsafeProjection.create(input, input)
    sorter.sort(batches.flatMap(_.rowIterator().asScala.map(toUnsafe(_))))
  }

  var row: InternalRow = _
  var prefix: Long = 0
  var isDone: Boolean = false

  override def advance(): Unit =
    if (rows.hasNext) {
      row = rows.next()
      prefix = order.prefixOf(row)
    } else {
      isDone = true
      prefix = Long.MaxValue
    }
}
