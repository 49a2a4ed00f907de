package org.apache.spark.sql.colocate.evidence.files

import scala.jdk.CollectionConverters._

import org.apache.orc.{IntegerColumnStatistics, Reader}
import org.apache.parquet.column.statistics.{IntStatistics, LongStatistics, Statistics}
import org.apache.parquet.hadoop.metadata.{BlockMetaData, ColumnChunkMetaData}

/**
 * Row count and key bounds from the footer of a file.
 *
 * @param ranges integer key -> its least and greatest value; without an entry if the file does not say
 * @param nulls  keys of which all rows are null
 */
case class FileFacts(rows: Long, ranges: Map[String, (Long, Long)], nulls: Set[String])

object FileFacts {

  def ofParquet(blocks: Seq[BlockMetaData], keys: Seq[String]): FileFacts = {
    val found = keys.map(key => key -> blocks.map(block => rangeIn(chunks(block).filter(nameOf(_) == key))))
    made(blocks.map(_.getRowCount).sum, found)
  }

  def ofOrc(reader: Reader, keys: Seq[String]): FileFacts = {
    val names = reader.getSchema.getFieldNames.asScala.toSeq
    val found = keys.map { key =>
      key -> Seq(names.indexOf(key)).filter(_ >= 0).map { index =>
        reader.getStatistics()(reader.getSchema.getChildren.get(index).getId) match {
          case numbers: IntegerColumnStatistics if numbers.getNumberOfValues > 0 =>
            Some(Some((numbers.getMinimum, numbers.getMaximum)))
          case other => Option.when(other.getNumberOfValues == 0)(None)
        }
      }
    }
    made(reader.getNumberOfRows, found)
  }

  /** The bounds in one part of a file: None if it has none, Some(None) if all values are null. */
  private type Part = Option[Option[(Long, Long)]]

  private def made(rows: Long, found: Seq[(String, Seq[Part])]): FileFacts = {
    val known = found.collect {
      case (key, parts) if parts.nonEmpty && parts.forall(_.isDefined) => key -> parts.flatten.flatten
    }
    FileFacts(
      rows,
      known.collect { case (key, parts) if parts.nonEmpty => key -> ((parts.map(_._1).min, parts.map(_._2).max)) }
        .toMap,
      known.collect { case (key, Nil) => key }.toSet)
  }

  private def chunks(block: BlockMetaData): Seq[ColumnChunkMetaData] = block.getColumns.asScala.toSeq

  private def nameOf(chunk: ColumnChunkMetaData): String = chunk.getPath.toDotString

  private def rangeIn(chunks: Seq[ColumnChunkMetaData]): Part = chunks match {
    case Seq(chunk) => rangeOf(chunk.getStatistics, chunk.getValueCount)
    case _ => None
  }

  private def rangeOf(statistics: Statistics[_], values: Long): Part = statistics match {
    case ints: IntStatistics if ints.hasNonNullValue => Some(Some((ints.getMin.toLong, ints.getMax.toLong)))
    case longs: LongStatistics if longs.hasNonNullValue => Some(Some((longs.getMin, longs.getMax)))
    case other if other != null && other.isNumNullsSet && other.getNumNulls == values => Some(None)
    case _ => None
  }
}
