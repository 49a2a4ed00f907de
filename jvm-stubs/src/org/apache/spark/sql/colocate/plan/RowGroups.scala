package org.apache.spark.sql.colocate.plan

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.Path
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.util.HadoopInputFile

import org.apache.spark.sql.colocate.layout.Recent
import org.apache.spark.sql.execution.datasources.HadoopFsRelation
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat

/**
 * Where a file can be cut so that each range has rows of its own: a reader takes the row groups whose middle lies in
 * its range, so cuts anywhere are right, but only cuts between row groups are of use. Footers are read for the files
 * of hot buckets alone, once for each file.
 */
case class RowGroups(relation: HadoopFsRelation) {
  import RowGroups._

  private lazy val conf = relation.sparkSession.sessionState.newHadoopConfWithOptions(relation.options)

  /** May several tasks read a range in turns? Not if each could stop at another place. */
  def turns(lengths: Seq[Long], parts: Int): Seq[Int] =
    if (toleratesDamage) lengths.map(_ => 1) else Turns.of(lengths, parts)

  /** Ranges (start, length) that make up a file. */
  def ranges(path: Path, length: Long): Seq[(Long, Long)] = {
    val starts = (0L +: cuts(path, length).filter(at => at > 0 && at < length)).distinct.sorted
    starts.zip(starts.tail :+ length).map { case (start, end) => (start, end - start) }
  }

  private def cuts(path: Path, length: Long): Seq[Long] =
    if (!relation.fileFormat.isSplitable(relation.sparkSession, relation.options, path) || toleratesDamage) Nil
    else relation.fileFormat match {
      case _: ParquetFileFormat => starts.getOrElse((path.toString, length))(rowGroupsOf(path))
      case _ => StripeBytes until length by StripeBytes
    }

  /** A damaged file is passed over while it is read, not before. */
  private def toleratesDamage: Boolean = {
    val conf = relation.sparkSession.sessionState.conf
    conf.ignoreCorruptFiles || conf.ignoreMissingFiles
  }

  private def rowGroupsOf(path: Path): Seq[Long] = {
    val reader = ParquetFileReader.open(HadoopInputFile.fromPath(path, conf))
    try reader.getRowGroups.asScala.toSeq.map(_.getStartingPos)
    finally reader.close()
  }
}

object RowGroups {

  /** ORC's default; its footers are not read. */
  private val StripeBytes = 64L << 20

  private val starts = new Recent[(String, Long), Seq[Long]]
}
