package org.apache.spark.sql.colocate.plan

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.apache.spark.sql.vectorized.ColumnarBatch

/**
 * A row group can't be cut, but several tasks can share its rows: the first one reads the first part and stops, the next
 * one passes over that part and reads the second, and so on, so that what is done with the rows is shared, though not
 * all of their decoding. A reader gives the rows of a range in one order, always.
 */
private[plan] object Turns {

  /** What decoding costs of all that is done with a row; more turns than four would mostly decode. */
  private val DecodingShare = 0.3
  private val MaxTurns = 4

  private val Key = "_colocate_turn"

  /** Turns for each of the ranges, so that `parts` tasks can have about the same. */
  def of(ranges: Seq[FileRange], parts: Int): Seq[Int] = {
    val share = 1.25 * ranges.map(_.length).sum / parts
    ranges.map(r => if (r.rows.isEmpty) 1 else (r.length / share).ceil.toInt.max(1).min(MaxTurns))
  }

  /** Bytes that are as much work as one of `turns` turns over `length` bytes. */
  def work(length: Long, number: Int, turns: Int): Long =
    (length * (DecodingShare * (number + 1) + 1 - DecodingShare) / turns).toLong

  def turn(file: PartitionedFile, rows: Option[Long], number: Int, turns: Int): PartitionedFile =
    if (turns == 1) file
    else {
      def at(turn: Int): Long = rows.get * turn / turns
      val turn = Turn(at(number), if (number == turns - 1) Long.MaxValue else at(number + 1))
      file.copy(otherConstantMetadataColumnValues = file.otherConstantMetadataColumnValues + (Key -> turn))
    }

  def reader(read: PartitionedFile => Iterator[InternalRow]): PartitionedFile => Iterator[InternalRow] = { file =>
    file.otherConstantMetadataColumnValues.get(Key) match {
      case Some(turn: Turn) => new Share(read(file), turn).asInstanceOf[Iterator[InternalRow]]
      case _ => read(file)
    }
  }

  /** Rows number `from` until `until` of what a range gives; a batch is where its first row is. */
  private case class Turn(from: Long, until: Long)

  /** The iterator may hold batches in the guise of rows, as Spark's own readers do. */
  private class Share(rows: Iterator[Any], turn: Turn) extends Iterator[Any] {
    private var passed = 0L
    private var item: Any = _

    override def hasNext: Boolean = {
      while (item == null && passed < turn.until && rows.hasNext) {
        val one = rows.next()
        if (passed >= turn.from) item = one
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
