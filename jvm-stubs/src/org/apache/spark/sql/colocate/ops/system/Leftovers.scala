package org.apache.spark.sql.colocate.ops.system

import scala.util.control.NonFatal

import org.apache.hadoop.fs.{FileStatus, FileSystem, LocatedFileStatus, Path}
import org.apache.spark.internal.Logging
import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.Json.formats
import org.apache.spark.sql.colocate.bridge.ControlPlane
import org.apache.spark.sql.colocate.layout.BucketFileName
import org.apache.spark.sql.colocate.system.SystemProcedure
import org.apache.spark.sql.connector.catalog.procedures.ProcedureParameter
import org.apache.spark.sql.types.StringType

/**
 * A folder where a managed table of its name would have its files, but there is no such table, and no other one that
 * has files in it. A CREATE TABLE AS SELECT of a native table whose driver was killed leaves one, and Spark then
 * refuses the name.
 *
 * @param modified when it was last changed, in seconds since the epoch
 */
private[system] case class Leftover(db: String, path: Path, files: Int, bytes: Long, modified: Double) {
  def toMap: Map[String, Any] = Map(
    "db" -> db, "table" -> path.getName, "path" -> path.toString, "files" -> files, "bytes" -> bytes,
    "modified" -> modified)
}

/** Only folders with files of buckets, or of a write that has not ended, are looked at: others may be anybody's. */
private[system] class Leftovers(session: SparkSession) extends Logging {
  import Leftovers._

  private val catalog = session.sharedState.externalCatalog

  private lazy val locations: Seq[Path] = catalog.listDatabases().flatMap { db =>
    val tables = catalog.getTablesByName(db, catalog.listTables(db)).flatMap(_.storage.locationUri)
    (tables :+ catalog.getDatabase(db).locationUri).map(new Path(_))
  }

  def of(db: String): Seq[Leftover] =
    try {
      val root = new Path(catalog.getDatabase(db).locationUri)
      val fs = root.getFileSystem(session.sessionState.newHadoopConf())
      val names = catalog.listTables(db).toSet
      for {
        folder <- if (fs.exists(root)) fs.listStatus(root).toSeq else Nil
        if folder.isDirectory && !isHidden(folder.getPath) && !names(folder.getPath.getName)
        if !locations.exists(one => isWithin(one, folder.getPath))
        found <- leftover(fs, db, folder)
      } yield found
    } catch {
      case NonFatal(e) =>
        logWarning(s"The folder of database $db could not be looked at", e)
        Nil
    }

  private def leftover(fs: FileSystem, db: String, folder: FileStatus): Option[Leftover] =
    Option.when(!fs.exists(new Path(folder.getPath, "_delta_log")))(filesIn(fs, folder.getPath))
      .filter(files => files.forall(isOfWrite))
      .filter(_.nonEmpty || fs.exists(new Path(folder.getPath, Unfinished)))
      .map { files =>
        val changed = (folder.getModificationTime +: files.map(_.getModificationTime)).max
        Leftover(db, folder.getPath, files.size, files.map(_.getLen).sum, changed / 1000.0)
      }

  private def filesIn(fs: FileSystem, folder: Path): Seq[LocatedFileStatus] = {
    val listed = fs.listFiles(folder, true)
    Iterator.continually(listed).takeWhile(_.hasNext).map(_.next()).toSeq
  }
}

private[system] object Leftovers {

  private def isHidden(path: Path): Boolean = path.getName.startsWith("_") || path.getName.startsWith(".")

  /** A file of a bucket, or what a write or this project keeps beside them. */
  private def isOfWrite(file: FileStatus): Boolean =
    BucketFileName.bucketOf(file.getPath.getName, Int.MaxValue).isDefined ||
      Iterator.iterate(file.getPath)(_.getParent).takeWhile(_ != null).take(MaxDepth).exists { path =>
        OfWrites(path.getName)
      }

  /** Spark's writes have it until they end. */
  private val Unfinished = "_temporary"
  private val OfWrites = Set(Unfinished, "_colocate", "_SUCCESS")
  private val MaxDepth = 8

  private def isWithin(path: Path, folder: Path): Boolean = {
    val (inner, outer) = (path.toUri.getPath, folder.toUri.getPath.stripSuffix("/"))
    inner == outer || inner.startsWith(outer + "/")
  }
}

object RemoveLeftover extends SystemProcedure(
      "remove_leftover",
      "Deletes the folder that a CREATE TABLE left that did not end, so that its name is free again.",
      "path STRING, files INT, bytes BIGINT") {

  override def parameters(): Array[ProcedureParameter] = Array(required("table", StringType))

  override protected def run(session: SparkSession, input: InternalRow): Seq[Row] = {
    val named = session.sessionState.sqlParser.parseTableIdentifier(input.getString(0))
    val db = named.database.getOrElse(session.catalog.currentDatabase)
    val found = new Leftovers(session).of(db).filter(_.path.getName.equalsIgnoreCase(named.table))
    val allowed = ControlPlane.call(session, "leftovers", "leftovers" -> found.map(_.toMap)).children
      .map(one => (one \ "path").extract[String]).toSet
    val chosen = found.find(one => allowed(one.path.toString)).getOrElse(refuse(s"$db.${named.table}"))
    chosen.path.getFileSystem(session.sessionState.newHadoopConf()).delete(chosen.path, true)
    Seq(Row(chosen.path.toString, chosen.files, chosen.bytes))
  }

  private def refuse(name: String): Nothing = throw new ColocateException("LEFTOVER_ABSENT",
    s"Cannot remove a folder of $name: no CREATE TABLE that did not end has left one, or it is younger than " +
      "spark.colocate.doctor.minAge, or a statement has not ended. CALL system.doctor() lists leftover folders.")
}
