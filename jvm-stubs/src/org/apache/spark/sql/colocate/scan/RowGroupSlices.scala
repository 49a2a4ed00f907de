package org.apache.spark.sql.colocate.scan

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.apache.spark.sql.vectorized.ColumnarBatch

/**
 * A row group can't be cut, but several tasks can share its rows: the first one reads the first part and stops, the
 * next one passes over that part and reads the second, and so on, so that they share the work on the rows, though not
 * all of their decoding. A reader always returns the rows of a range in the same order.
 */
private[colocate] object RowGroupSlices {

  /** What decoding costs of all that is done with a row; more turns than four would mostly decode. */
  private val DecodingShare = 0.3
  private val MaxTurns = 4

  private val Key = "_colocate_turn"

  /** One of the `count` turns over a range. */
  case class Turn(range: FileRange, number: Int, count: Int) {

    /** Bytes that are as much work. */
    def work: Long = (range.length * (DecodingShare * (number + 1) + 1 - DecodingShare) / count).toLong

    def of(file: PartitionedFile): PartitionedFile = {
      val part = file.copy(start = range.start, length = range.length)
      if (count == 1) part
      else part.copy(otherConstantMetadataColumnValues = part.otherConstantMetadataColumnValues + (Key -> rows))
    }

    private def rows: Rows = Rows(firstOf(number), if (number == count - 1) Long.MaxValue else firstOf(number + 1))

    private def firstOf(turn: Int): Long = range.rows.get * turn / count
  }

  /** The turns over each of the ranges, so that `parts` tasks can have about the same. */
  def over(ranges: Seq[FileRange], parts: Int): Seq[Seq[Turn]] = {
    val share = 1.25 * ranges.map(_.length).sum / parts
    ranges.map(r => all(r, if (r.rows.isEmpty) 1 else (r.length / share).ceil.toInt.max(1).min(MaxTurns)))
  }

  def all(range: FileRange, count: Int): Seq[Turn] = (0 until count).map(Turn(range, _, count))

  def reader(read: PartitionedFile => Iterator[InternalRow]): PartitionedFile => Iterator[InternalRow] = { file =>
    file.otherConstantMetadataColumnValues.get(Key) match {
      case Some(wanted: Rows) => new Wanted(read(file), wanted).asInstanceOf[Iterator[InternalRow]]
      case _ => read(file)
    }
  }

  /** Rows number `from` until `until` of what a range gives; a batch is where its first row is. */
  private case class Rows(from: Long, until: Long)

  /** The iterator may hold batches in the guise of rows, as Spark's own readers do. */
  private class Wanted(rows: Iterator[Any], wanted: Rows) extends Iterator[Any] {
    private var passed = 0L
    private var item: Any = _

    override def hasNext: Boolean = {
      while (item == null && passed < wanted.until && rows.hasNext) {
        val one = rows.next()
        if (passed >= wanted.from) item = one
        passed += (one match { case batch: ColumnarBatch => batch.numRows(); case _ => 1 })
      }
      item != null
    }

    override def next(): Any = {
      if (!hasNext) throw new NoSuchElementException
      val one = item
      item = null
      one
    }
  }
}
