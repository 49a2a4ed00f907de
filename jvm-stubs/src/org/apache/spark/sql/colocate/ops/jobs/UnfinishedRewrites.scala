package org.apache.spark.sql.colocate.ops.jobs

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.sql.classic.SparkSession

/** Rewrites of a native table that a driver has begun and not finished. */
private[jobs] object UnfinishedRewrites {

  /** The parts of the table that have one, as [[StrayParts]] names them. */
  def folders(session: SparkSession, scan: MemberScan): Seq[String] =
    RewriteFolder.unfinished(fileSystem(session, scan), scan.root).map { journal =>
      StrayParts.folder(scan.root, new Path(journal.folder))
    }

  def fileSystem(session: SparkSession, scan: MemberScan): FileSystem =
    scan.root.getFileSystem(session.sessionState.newHadoopConfWithOptions(scan.relation.options))
}
