package org.apache.spark.sql.colocate.jobs

import java.io.{FileNotFoundException, IOException}
import java.nio.charset.StandardCharsets.UTF_8
import scala.io.Source

import org.apache.hadoop.fs.{FileStatus, FileSystem, Path}
import org.apache.spark.sql.colocate.conf.Json
import org.apache.spark.sql.colocate.conf.Json.formats
import org.apache.spark.sql.colocate.evidence.manifest.ManifestFile

/**
 * What the last part of a rewrite is about to do in one folder of a native table: new files come in, strays go. It is
 * written before the first file moves, so whoever finds it can finish: in whatever order a folder's files are changed,
 * readers could see rows twice or not at all if nobody did.
 *
 * @param files  names of the new files, in the folder `new` beside the journal until they are moved
 * @param strays names of the strays, with length and modification time
 */
private[jobs] case class RewriteJournal(folder: String, files: List[String], strays: List[StrayEntry]) {
  import RewriteJournal.NewFiles

  /**
   * New files first. So a stray that is missing while a new file is not in its place means that somebody has replaced
   * the folder's contents since: then the new files are dropped. If new files are lost before they were moved, those
   * that were are taken out again, and the strays stay.
   */
  def finish(fs: FileSystem, work: Path): Boolean = {
    val target = new Path(folder)
    val left = strays.filter(stray => statusOf(fs, new Path(target, stray.name)).exists(stray.is))
    val waiting = files.filterNot(name => fs.exists(new Path(target, name)))
    val isReplaced = left.size < strays.size && waiting.nonEmpty
    val isWhole = waiting.forall(name => fs.exists(new Path(new Path(work, NewFiles), name)))
    if (!isReplaced && !isWhole) {
      files.diff(waiting).foreach(name => fs.delete(new Path(target, name), false))
    } else if (!isReplaced) {
      waiting.foreach(name => move(fs, new Path(new Path(work, NewFiles), name), new Path(target, name)))
      left.foreach(stray => fs.delete(new Path(target, stray.name), false))
    }
    fs.delete(work, true)
    !isReplaced && isWhole
  }

  private def move(fs: FileSystem, from: Path, to: Path): Unit =
    if (!fs.rename(from, to)) throw new IOException(s"$from could not be moved to $to")

  private def statusOf(fs: FileSystem, file: Path): Option[FileStatus] =
    try Some(fs.getFileStatus(file)) catch { case _: FileNotFoundException => None }
}

private[jobs] case class StrayEntry(name: String, length: Long, modified: Long) {
  def is(file: FileStatus): Boolean = file.getLen == length && file.getModificationTime == modified
}

private[jobs] object RewriteJournal {
  val NewFiles = "new"
  private val Name = "journal.json"
  private val Prefix = "rewrite-"
  private val AbandonedMillis = 24L * 3600 * 1000

  def workFolder(root: Path, id: String): Path = new Path(ManifestFile.folder(root), s"$Prefix$id")

  /** Atomic: the file gets its name last. */
  def save(fs: FileSystem, work: Path, journal: RewriteJournal): Unit = {
    val draft = new Path(work, s".$Name")
    val out = fs.create(draft, true)
    try out.write(Json.write(journal).getBytes(UTF_8)) finally out.close()
    if (!fs.rename(draft, new Path(work, Name))) throw new IOException(s"$draft could not be renamed")
  }

  /** The work folders of rewrites that nobody has finished, with their journals. Removes old folders without one. */
  def unfinished(fs: FileSystem, root: Path): Seq[(Path, RewriteJournal)] = {
    val found = folders(fs, root).map(folder => folder -> read(fs, folder.getPath))
    val old = System.currentTimeMillis() - AbandonedMillis
    found.collect { case (folder, None) if folder.getModificationTime < old => fs.delete(folder.getPath, true) }
    found.collect { case (folder, Some(journal)) => folder.getPath -> journal }
  }

  private def folders(fs: FileSystem, root: Path): Seq[FileStatus] =
    try {
      val all = fs.listStatus(ManifestFile.folder(root)).toSeq
      all.filter(entry => entry.isDirectory && entry.getPath.getName.startsWith(Prefix))
    } catch { case _: FileNotFoundException => Nil }

  private def read(fs: FileSystem, work: Path): Option[RewriteJournal] =
    try {
      val in = Source.fromInputStream(fs.open(new Path(work, Name)), UTF_8.name)
      try Some(Json.parse(in.mkString).extract[RewriteJournal]) finally in.close()
    } catch { case _: FileNotFoundException => None }
}
