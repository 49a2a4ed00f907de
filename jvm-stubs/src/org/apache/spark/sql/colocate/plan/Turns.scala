package org.apache.spark.sql.colocate.plan

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.PartitionedFile

/**
 * A row group can't be cut, but several tasks can read it in turns: each decodes all of it and keeps every n-th block
 * of its rows, so that what is done with the rows is shared. A reader gives the rows of a range in one order, always.
 */
private[plan] object Turns {

  /** What decoding costs of all that is done with a row; more turns than four would mostly decode. */
  private val DecodingShare = 0.2
  private val MaxTurns = 4

  private val BlockRows = 4096

  private val Key = "_colocate_turn"

  /** Turns for each of the ranges, so that `parts` tasks can have about the same. */
  def of(lengths: Seq[Long], parts: Int): Seq[Int] = {
    val share = 1.25 * lengths.sum / parts
    lengths.map(length => (length / share).ceil.toInt.max(1).min(MaxTurns))
  }

  /** Bytes that are as much work as one of `turns` turns over `length` bytes. */
  def work(length: Long, turns: Int): Long = (length * (DecodingShare + (1 - DecodingShare) / turns)).toLong.min(length)

  def turn(file: PartitionedFile, number: Int, turns: Int): PartitionedFile =
    if (turns == 1) file
    else file.copy(otherConstantMetadataColumnValues = file.otherConstantMetadataColumnValues + (Key -> Turn(number, turns)))

  def reader(read: PartitionedFile => Iterator[InternalRow]): PartitionedFile => Iterator[InternalRow] = { file =>
    file.otherConstantMetadataColumnValues.get(Key) match {
      case Some(turn: Turn) => turn.of(read(file))
      case _ => read(file)
    }
  }

  private case class Turn(number: Int, turns: Int) {

    /** The iterator may hold batches in the guise of rows, as Spark's own readers do; a batch is a block. */
    def of(rows: Iterator[InternalRow]): Iterator[InternalRow] = {
      val untyped = rows.asInstanceOf[Iterator[Any]]
      var seen = -1L
      untyped
        .filter {
          case _: InternalRow => seen += 1; seen / BlockRows % turns == number
          case _ => seen += 1; seen % turns == number
        }
        .asInstanceOf[Iterator[InternalRow]]
    }
  }
}
