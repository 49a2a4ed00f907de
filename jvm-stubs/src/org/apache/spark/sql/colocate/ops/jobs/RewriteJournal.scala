package org.apache.spark.sql.colocate.ops.jobs

import java.io.FileNotFoundException
import java.nio.charset.StandardCharsets.UTF_8
import scala.io.Source

import org.apache.hadoop.fs.{FileStatus, FileSystem, Path}
import org.apache.spark.sql.colocate.Json
import org.apache.spark.sql.colocate.Json.formats
import org.apache.spark.sql.colocate.compat.TestHook

/**
 * The moves that the last part of a rewrite is about to do in one folder of a native table: new files in, strays out.
 * It is written before the first move, so that any driver can finish the moves. Unfinished, readers could see rows
 * twice or not at all, in whatever order the files are moved.
 *
 * @param files  names of the new files, in the folder `new` beside the journal until they are moved
 * @param strays names of the strays, with length and modification time
 */
private[jobs] case class RewriteJournal(folder: String, files: List[String], strays: List[StrayEntry]) {
  import RewriteJournal._

  /**
   * New files first. So a stray that is missing while a new file is not in its place means that somebody has replaced
   * the folder's contents since: then the new files are dropped. If new files are lost before they were moved, those
   * that were are taken out again, and the strays stay.
   *
   * Nothing is deleted here, only renamed from or into the folder of the claim, see [[RewriteFolder]].
   */
  def finish(fs: FileSystem, claim: Path): Boolean = {
    val (target, fresh) = (new Path(folder), new Path(claim, NewFiles))
    val left = strays.filter(stray => statusOf(fs, new Path(target, stray.name)).exists(stray.is))
    val waiting = files.filterNot(name => fs.exists(new Path(target, name)))
    val isReplaced = left.size < strays.size && waiting.nonEmpty
    val isWhole = waiting.forall(name => fs.exists(new Path(fresh, name)))
    def away(name: String): Unit = StrictRename(fs, new Path(target, name), new Path(new Path(claim, Old), name))
    TestHook.before("rewrite:looked")
    if (!isReplaced && !isWhole) files.diff(waiting).foreach(away)
    else if (!isReplaced) {
      waiting.foreach { name =>
        StrictRename(fs, new Path(fresh, name), new Path(target, name))
        TestHook.before("rewrite:moved")
      }
      left.foreach { stray =>
        away(stray.name)
        TestHook.before("rewrite:replaced")
      }
    }
    !isReplaced && isWhole
  }

  private def statusOf(fs: FileSystem, file: Path): Option[FileStatus] =
    try Some(fs.getFileStatus(file)) catch { case _: FileNotFoundException => None }
}

private[jobs] case class StrayEntry(name: String, length: Long, modified: Long) {
  def is(file: FileStatus): Boolean = file.getLen == length && file.getModificationTime == modified
}

private[jobs] object RewriteJournal {
  val NewFiles = "new"

  /** What the new files have replaced. It is deleted with the folder of the claim. */
  val Old = "old"

  private val Name = "journal.json"

  /** Writes the journal atomically: the file gets its name, and its place in the claim, last. */
  def save(fs: FileSystem, work: Path, claim: Path, journal: RewriteJournal): Unit = {
    val draft = new Path(work, Name)
    val out = fs.create(draft, true)
    try out.write(Json.write(journal).getBytes(UTF_8)) finally out.close()
    StrictRename(fs, draft, new Path(claim, Name))
  }

  def read(fs: FileSystem, claim: Path): Option[RewriteJournal] =
    try {
      val in = Source.fromInputStream(fs.open(new Path(claim, Name)), UTF_8.name)
      try Some(Json.parse(in.mkString).extract[RewriteJournal]) finally in.close()
    } catch { case _: FileNotFoundException => None }
}
