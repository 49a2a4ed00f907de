package org.apache.spark.sql.colocate.jobs

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.sql.classic.SparkSession

/** Rewrites of a native table that a driver has begun and not finished. */
private[jobs] object UnfinishedRewrites {

  /** The parts of the table that have one, as [[StrayParts]] names them. */
  def folders(session: SparkSession, scan: MemberScan): Seq[String] =
    RewriteJournal.unfinished(fileSystem(session, scan), scan.root).map { case (_, journal) =>
      StrayParts.folder(scan.root, new Path(journal.folder))
    }

  def finish(session: SparkSession, scan: MemberScan, folder: Path): Unit = {
    val fs = fileSystem(session, scan)
    RewriteJournal.unfinished(fs, scan.root).foreach { case (work, journal) =>
      if (new Path(journal.folder) == folder) journal.finish(fs, work)
    }
  }

  def fileSystem(session: SparkSession, scan: MemberScan): FileSystem =
    scan.root.getFileSystem(session.sessionState.newHadoopConfWithOptions(scan.relation.options))
}
