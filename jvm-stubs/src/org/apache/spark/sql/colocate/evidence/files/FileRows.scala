package org.apache.spark.sql.colocate.evidence.files

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.FileStatus
import org.apache.orc.OrcFile
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.spark.internal.Logging
import org.apache.spark.sql.colocate.layout.Recent
import org.apache.spark.sql.execution.datasources.HadoopFsRelation
import org.apache.spark.sql.execution.datasources.orc.OrcFileFormat
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.util.ThreadUtils

/**
 * The number of rows in the files of a native table and the ranges of their keys, from the footers, which are read once
 * for each file. They only decide how to join, never which rows are right: for a file that is replaced later they may
 * cost memory, no more.
 */
case class FileRows(relation: HadoopFsRelation, keys: Seq[String]) extends Logging {
  import FileRows._

  private lazy val conf: Configuration = relation.sparkSession.sessionState.newHadoopConfWithOptions(relation.options)

  /** What is known of each file; None where one can't be read, or where too many footers would have to be read. */
  def of(files: Seq[FileStatus]): Option[Map[FileStatus, FileFacts]] = {
    val unread = files.filter(file => counted.get(stampOf(file)).isEmpty)
    for {
      read <- footers
      if unread.size <= MostFooters && readAll(unread, read)
      counts = files.flatMap(file => counted.get(stampOf(file)).map(file -> _))
      if counts.size == files.size
    } yield counts.toMap
  }

  private def readAll(files: Seq[FileStatus], read: FileStatus => FileFacts): Boolean =
    try {
      val rows =
        if (files.isEmpty) Nil
        else ThreadUtils.parmap(files, "colocate-footers", files.size.min(Threads))(read)
      files.zip(rows).foreach { case (file, count) => counted.getOrElse(stampOf(file))(count) }
      true
    } catch {
      // The task that reads the rows reports what is wrong with a file.
      case NonFatal(e) =>
        logInfo(s"The rows of ${relation.location.rootPaths.mkString(", ")} are not known: $e")
        false
    }

  private def footers: Option[FileStatus => FileFacts] = relation.fileFormat match {
    case _: ParquetFileFormat => Some(ofParquet)
    case _: OrcFileFormat => Some(ofOrc)
    case _ => None
  }

  private def ofParquet(file: FileStatus): FileFacts = {
    val reader = ParquetFileReader.open(HadoopInputFile.fromStatus(file, conf))
    try FileFacts.ofParquet(reader.getFooter.getBlocks.asScala.toSeq, keys) finally reader.close()
  }

  private def ofOrc(file: FileStatus): FileFacts = {
    val reader = OrcFile.createReader(file.getPath, OrcFile.readerOptions(conf))
    try FileFacts.ofOrc(reader, keys) finally reader.close()
  }
}

object FileRows {

  /** Planning must not wait for more of them. */
  private val MostFooters = 256
  private val Threads = 8

  private val counted = new Recent[(String, Long, Long), FileFacts](capacity = 50000)

  private def stampOf(file: FileStatus): (String, Long, Long) =
    (file.getPath.toString, file.getLen, file.getModificationTime)
}
