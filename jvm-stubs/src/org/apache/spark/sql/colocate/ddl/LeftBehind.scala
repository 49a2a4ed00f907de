package org.apache.spark.sql.colocate.ddl

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.classic.SparkSession

/**
 * The folder of a table that a statement is about to make. When the statement fails, what it left there goes: Delta
 * writes the rows of a CREATE TABLE AS SELECT before it commits, and leaves them to VACUUM.
 */
class LeftBehind private (folder: Option[(FileSystem, Path)]) {

  private val before: Option[Set[Path]] = folder.flatMap { case (fs, path) => children(fs, path) }

  /** @param exists is there a table of this name after all, made by somebody else? */
  def remove(exists: Boolean): Unit = folder.foreach { case (fs, path) =>
    if (!exists && !isCommitted(fs, path)) before match {
      case None => fs.delete(path, true)
      case Some(known) => children(fs, path).getOrElse(Set.empty).diff(known).foreach(fs.delete(_, true))
    }
  }

  private def isCommitted(fs: FileSystem, path: Path): Boolean = {
    val log = new Path(path, "_delta_log")
    fs.exists(log) && fs.listStatus(log).exists(_.getPath.getName.endsWith(".json"))
  }

  private def children(fs: FileSystem, path: Path): Option[Set[Path]] =
    Option.when(fs.exists(path))(fs.listStatus(path).map(_.getPath).toSet)
}

object LeftBehind {
  def before(session: SparkSession, location: Option[String]): LeftBehind =
    new LeftBehind(location.map(new Path(_)).map(p => p.getFileSystem(session.sessionState.newHadoopConf()) -> p))
}
