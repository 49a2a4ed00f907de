package org.apache.spark.sql.colocate.ops.jobs

import java.io.{FileNotFoundException, IOException}

import RewriteFolder._
import org.apache.hadoop.fs.{FileStatus, FileSystem, Path}
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.compat.TestHook
import org.apache.spark.sql.colocate.evidence.manifest.ManifestFile

/**
 * The work folder of a rewrite of a native table, which is its fence. Its name has the number of the job and of the
 * claim, which grow. The rewrite changes the table only by renames out of its folder `claim`, or into it. A driver that
 * takes the job over renames the work folder first, and from then on the late owner's renames fail: nothing creates
 * `claim` a second time. So an owner that was thought dead changes nothing more in the table, wherever it was stopped.
 *
 * A driver creates its folder, then lists the others, and then asks the store whether it still has the job. A late
 * driver either sees in the store that it has lost the job, or has created its folder before its successor lists them.
 */
private[jobs] case class RewriteFolder(fs: FileSystem, path: Path) {

  /** Where the tasks write. They may make it anew after the work folder was taken away. */
  val written = new Path(path, "written")

  private val claim = new Path(path, Claim)
  private val taken = new Path(path, Taken)

  def open(): Unit = Seq(new Path(claim, RewriteJournal.Old), taken).foreach { folder =>
    if (!fs.mkdirs(folder)) throw new IOException(s"$folder could not be made")
  }

  /** The names of the work folders of other claims. */
  def others: Seq[String] = listed(fs, path.getParent).map(_.getPath.getName).filter(_ != path.getName)

  /** Another claim's folder becomes a part of this one, and what its owner has begun to move is finished. */
  def takeOver(name: String): Unit = {
    val (other, mine) = (new Path(path.getParent, name), new Path(taken, name))
    if (!TestHook.drops(Fence) && fs.exists(other)) owned(StrictRename(fs, other, mine))
    RewriteFolder(fs, mine).journals.foreach { case (claimed, journal) => owned(journal.finish(fs, claimed)) }
    fs.delete(mine, true)
  }

  /** The journals in this folder and in those that it has taken over, each with the folder that its renames use. */
  def journals: Seq[(Path, RewriteJournal)] =
    RewriteJournal.read(fs, claim).map(claim -> _).toSeq ++
      listed(fs, taken).flatMap(inner => RewriteFolder(fs, inner.getPath).journals)

  /** The files that the tasks have written belong to the claim now. */
  def keepWritten(): Path = {
    fs.mkdirs(written)
    val kept = new Path(claim, RewriteJournal.NewFiles)
    owned(StrictRename(fs, written, kept))
    kept
  }

  /** Returns whether the new files are in place of the strays. */
  def finish(journal: RewriteJournal): Boolean = {
    owned(RewriteJournal.save(fs, path, claim, journal))
    val done = owned(journal.finish(fs, claim))
    remove()
    done
  }

  def remove(): Unit = fs.delete(path, true)

  /** A folder with a journal stays: somebody has to finish it. */
  def removeIfDone(): Unit = if (journals.isEmpty) remove()

  private def owned[A](act: => A): A = try act catch {
    case e: IOException if !fs.exists(claim) => throw new ColocateException("JOB_TAKEN_OVER",
        s"This driver's part of the repair is thrown away: its work folder $path is gone, because another driver has " +
          "taken the job over. SELECT * FROM system.colocation_jobs shows the job.",
        Some(e))
  }
}

private[jobs] object RewriteFolder {

  /** The name of the fence, by which a test switches it off. */
  val Fence = "RewriteFence"

  private val Claim = "claim"
  private val Taken = "taken"
  private val Prefix = "rewrite-"
  private val AbandonedMillis = 24L * 3600 * 1000

  /** token: `<job>-<claim>`. */
  def of(fs: FileSystem, root: Path, token: String): RewriteFolder =
    RewriteFolder(fs, new Path(ManifestFile.folder(root), s"$Prefix$token"))

  /** The rewrites of a table that nobody has finished. Removes old folders without a journal. */
  def unfinished(fs: FileSystem, root: Path): Seq[RewriteJournal] = {
    val found = listed(fs, ManifestFile.folder(root))
      .map(status => status -> RewriteFolder(fs, status.getPath).journals)
    val old = System.currentTimeMillis() - AbandonedMillis
    found.collect { case (status, Nil) if status.getModificationTime < old => fs.delete(status.getPath, true) }
    found.flatMap(_._2).map(_._2)
  }

  /** Are files of a table being moved, or has a driver left them in the midst of it? */
  def areMoving(fs: FileSystem, root: Path): Boolean =
    listed(fs, ManifestFile.folder(root)).exists(status => RewriteFolder(fs, status.getPath).journals.nonEmpty)

  private def listed(fs: FileSystem, folder: Path): Seq[FileStatus] =
    try fs.listStatus(folder).toSeq.filter(entry => entry.isDirectory && entry.getPath.getName.startsWith(Prefix))
    catch { case _: FileNotFoundException => Nil }
}
