package org.apache.spark.sql.colocate.scan

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.Path
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.spark.sql.colocate.layout.Recent
import org.apache.spark.sql.execution.datasources.HadoopFsRelation
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat

/** A part of a file that a task can read by itself. rows: how many it has, where that is known. */
case class FileRange(start: Long, length: Long, rows: Option[Long])

/**
 * Where a file can be cut so that each range has rows: a reader takes the row groups whose middle is in its range, so
 * any cut gives right rows, but only cuts between row groups share out the work. Footers are read only for the files of
 * large buckets, once for each file.
 */
case class RowGroups(relation: HadoopFsRelation) {
  import RowGroups._

  private lazy val conf = relation.sparkSession.sessionState.newHadoopConfWithOptions(relation.options)

  /** The turns over each range; a single one where tasks that share it could stop at different places. */
  def turns(ranges: Seq[FileRange], parts: Int): Seq[Seq[RowGroupSlices.Turn]] =
    if (toleratesDamage) ranges.map(RowGroupSlices.all(_, 1)) else RowGroupSlices.over(ranges, parts)

  /** Ranges that make up a file. */
  def ranges(path: Path, length: Long): Seq[FileRange] =
    if (!relation.fileFormat.isSplitable(relation.sparkSession, relation.options, path) || toleratesDamage) {
      Seq(FileRange(0, length, None))
    } else relation.fileFormat match {
      case _: ParquetFileFormat => between(footers.getOrElse((path.toString, length))(rowGroupsOf(path)), length)
      case _ => (0L until length by StripeBytes).map(at => FileRange(at, StripeBytes.min(length - at), None))
    }

  /** The first range begins with the file, the last one ends with it. */
  private def between(rowGroups: Seq[(Long, Long)], length: Long): Seq[FileRange] = {
    val starts = 0L +: rowGroups.map(_._1).drop(1)
    if (rowGroups.isEmpty) Seq(FileRange(0, length, None))
    else starts.zip(starts.tail :+ length).zip(rowGroups).map { case ((start, end), (_, rows)) =>
      FileRange(start, end - start, Some(rows))
    }
  }

  /** With ignoreCorruptFiles a damaged file is skipped when its rows are read, not here. */
  private def toleratesDamage: Boolean = {
    val conf = relation.sparkSession.sessionState.conf
    conf.ignoreCorruptFiles || conf.ignoreMissingFiles
  }

  /** Where each begins, and its rows. */
  private def rowGroupsOf(path: Path): Seq[(Long, Long)] = {
    val reader = ParquetFileReader.open(HadoopInputFile.fromPath(path, conf))
    try reader.getRowGroups.asScala.toSeq.map(group => (group.getStartingPos, group.getRowCount)).sortBy(_._1)
    finally reader.close()
  }
}

object RowGroups {

  /** ORC's default; its footers are not read. */
  private val StripeBytes = 64L << 20

  private val footers = new Recent[(String, Long), Seq[(Long, Long)]]
}
