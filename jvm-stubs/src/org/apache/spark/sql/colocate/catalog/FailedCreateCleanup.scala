package org.apache.spark.sql.colocate.catalog

import scala.util.control.NonFatal

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.internal.Logging
import org.apache.spark.sql.classic.SparkSession

/**
 * The folder of a table that a statement is about to create. If the statement fails, a new folder without files is
 * removed. Files stay: another statement, of this or another driver, may be writing to the same folder and commit
 * later. Spark's committer removes its own files; those of Delta, which writes the rows of a CREATE TABLE AS SELECT
 * before it commits, are left to VACUUM, as on stock Delta.
 */
class FailedCreateCleanup private (folder: Option[(FileSystem, Path)]) extends Logging {

  private val isNew = folder.exists { case (fs, path) => !fs.exists(path) }

  /** @param exists is there a table of this name after all, made by somebody else? */
  def remove(exists: => Boolean): Unit = folder.filter(_ => isNew && !exists).foreach { case (fs, path) =>
    // The statement's own error is what the user has to see.
    try if (fs.exists(path) && !fs.listFiles(path, true).hasNext) removeEmpty(fs, path)
    catch { case NonFatal(e) => logWarning(s"The folder $path of a statement that failed is left: ${e.getMessage}") }
  }

  /**
   * A driver that was killed in a CREATE TABLE AS SELECT leaves Delta's log folder, empty: it is not a table, but would
   * block its name. It is removed if there is no file below the table's folder.
   */
  private def removeEmptyLog(): Unit = folder.foreach { case (fs, path) =>
    val log = new Path(path, "_delta_log")
    try if (fs.exists(log) && !fs.listFiles(path, true).hasNext) removeEmpty(fs, log)
    catch { case NonFatal(e) => logWarning(s"The empty folder $log is left: ${e.getMessage}") }
  }

  /** Removes folders from the bottom up and one by one, so that one in which a file appears meanwhile stays. */
  private def removeEmpty(fs: FileSystem, path: Path): Unit = {
    fs.listStatus(path).filter(_.isDirectory).foreach(child => removeEmpty(fs, child.getPath))
    fs.delete(path, false)
  }
}

object FailedCreateCleanup {
  def before(session: SparkSession, location: Option[String]): FailedCreateCleanup = {
    val folder = new FailedCreateCleanup(location.map(new Path(_))
      .map(p => p.getFileSystem(session.sessionState.newHadoopConf()) -> p))
    folder.removeEmptyLog()
    folder
  }
}
