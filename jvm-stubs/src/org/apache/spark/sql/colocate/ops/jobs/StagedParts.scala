package org.apache.spark.sql.colocate.ops.jobs

import java.nio.charset.StandardCharsets.UTF_8
import scala.collection.concurrent.TrieMap
import scala.util.Using

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.Json
import org.apache.spark.sql.colocate.Json.formats
import org.apache.spark.sql.colocate.compat.delta.{LayoutChanges, TableFile}

/**
 * Some files of a table, and the files that its rows were written into by bucket.
 *
 * @param name    of the part, and of the folder of its files
 * @param sources the files that were read, as [[LayoutChanges.versionOf]] names them
 */
private[jobs] case class StagedPart(name: String, sources: Set[String], added: Seq[TableFile])

/**
 * The parts of a table that one adoption has written so far, in the table's own folder. No version of the table has
 * their files before the adoption's commit, so nobody reads them. What is known of them is in the folder `_colocate`,
 * which VACUUM leaves alone. Any driver can go on with it.
 *
 * @param run the name of the adoption
 */
private[jobs] class StagedParts(fs: FileSystem, root: Path, run: String) {
  import StagedParts._

  private val journal = new Path(root, s"$Ours/adopt-$run")
  private val data = new Path(root, s"adopt-$run")

  /** The name under which Delta's log notes how the adoption has ended. */
  val note: String = s"colocate-adopt-$run"

  /** Where the files of a part lie, relative to the table's folder. */
  def folderOf(part: String): String = s"${data.getName}/$part"

  /**
   * Notes a part whose files are complete. It counts only after `keep`: a driver that has lost its job may remove it
   * until then, and nobody has used it. A line for each file, and a last one that says how many there are.
   */
  def put(part: StagedPart): Unit = {
    val lines = Json.write(part.sources.toSeq) +: part.added.map(LayoutChanges.json) :+ part.added.size.toString
    Using.resource(fs.create(noteOf(part.name, New), true))(_.write(lines.mkString("\n").getBytes(UTF_8)))
  }

  /** From now on the part counts, and is removed only when the run has ended. */
  def keep(part: String): Unit = if (isNew(part)) fs.rename(noteOf(part, New), noteOf(part, Kept))

  /** Removes a part that was not kept. */
  def drop(part: String): Unit = if (isNew(part)) {
    fs.delete(noteOf(part, New), false)
    fs.delete(new Path(data, part), true)
    removeIfEmpty()
  }

  /**
   * Those whose sources the table has; no source is in two of them. The others stay as well: a driver that is late may
   * be about to commit them, and RESTORE may bring their sources back.
   */
  def valid(live: Set[String]): Seq[StagedPart] =
    all.filter(_.sources.subsetOf(live)).foldLeft(Seq.empty[StagedPart]) { (taken, part) =>
      if (taken.exists(_.sources.exists(part.sources))) taken else taken :+ part
    }

  /** Those of which a file is not there any more: somebody else has deleted it. They count no longer. */
  def forgetIncomplete(parts: Seq[StagedPart]): Seq[StagedPart] = {
    val present = filesBelow(data)
    val broken = parts.filterNot(_.added.forall(file => present.get(relative(file)).contains(file.bytes)))
    broken.foreach { part =>
      fs.delete(noteOf(part.name, Kept), false)
      read.remove(noteOf(part.name, Kept).toString)
    }
    broken
  }

  /** Says that a commit is about to be made. claim: whose it is. */
  def mark(claim: String): Unit = fs.create(marker(claim), true).close()

  def unmark(claim: String): Unit = {
    fs.delete(marker(claim), false)
    removeIfEmpty()
  }

  /** Has the adoption written anything that is still there? */
  def isThere: Boolean = fs.exists(journal) || fs.exists(data)

  /** May a commit be on its way? */
  def isMarked: Boolean = children(journal).exists(_.getName.startsWith(Commit))

  /** The part that a file of the table was written for, by its path in Delta's log. */
  def partOf(path: String): Option[String] =
    Option.when(path.startsWith(s"${data.getName}/"))(path.split('/')(1))

  /** After the commit: removes all parts but these, and what is known of all. */
  def finish(kept: Set[String]): Unit = {
    children(data).filterNot(path => kept(path.getName)).foreach(fs.delete(_, true))
    forget()
  }

  /** Removes all. Only if there was no commit, and can be none. */
  def discard(): Unit = {
    fs.delete(data, true)
    forget()
  }

  private def forget(): Unit = {
    read.keys.filter(_.startsWith(s"$journal/")).foreach(read.remove)
    fs.delete(journal, true)
    removeIfEmpty()
  }

  private def removeIfEmpty(): Unit =
    Seq(data, journal, journal.getParent).foreach { folder =>
      if (fs.exists(folder) && children(folder).isEmpty) fs.delete(folder, false)
    }

  private def all: Seq[StagedPart] =
    children(journal).filter(_.getName.endsWith(Kept)).sortBy(_.getName).flatMap { path =>
      read.get(path.toString).orElse {
        val found = parse(path)
        found.foreach(read.put(path.toString, _))
        found
      }
    }

  /** None for one whose driver has ended while it wrote it. */
  private def parse(path: Path): Option[StagedPart] = {
    val lines = textOf(path).split("\n").toSeq
    val isWhole = lines.size >= 2 && lines.last == (lines.size - 2).toString
    Option.when(isWhole)(StagedPart(
      path.getName.stripSuffix(Kept),
      Json.parse(lines.head).extract[Set[String]],
      lines.tail.init.map(LayoutChanges.fromJson)))
  }

  private def relative(file: TableFile): String = new Path(new java.net.URI(file.path)).toString

  /** The files below a folder with their sizes, relative to the table's folder. */
  private def filesBelow(folder: Path): Map[String, Long] =
    if (!fs.exists(folder)) Map.empty
    else {
      val listed = fs.listFiles(folder, true)
      Iterator.continually(listed).takeWhile(_.hasNext).map(_.next()).map { file =>
        val above = root.toUri.getPath.stripSuffix("/") + "/"
        file.getPath.toUri.getPath.stripPrefix(above) -> file.getLen
      }.toMap
    }

  /** No more, if the run was discarded meanwhile. */
  private def isNew(part: String): Boolean = fs.exists(noteOf(part, New))

  private def noteOf(part: String, state: String): Path = new Path(journal, s"$part$state")

  private def marker(claim: String): Path = new Path(journal, s"$Commit$claim")

  private def children(folder: Path): Seq[Path] =
    if (fs.exists(folder)) fs.listStatus(folder).toSeq.map(_.getPath) else Nil

  private def textOf(path: Path): String = Using.resource(fs.open(path))(in => new String(in.readAllBytes(), UTF_8))
}

private[jobs] object StagedParts {
  private val Ours = "_colocate"
  private val New = ".new"
  private val Kept = ".part"
  private val Commit = "commit-"

  /** What was read of the journals of the adoptions that this driver works on: a part is never changed. */
  private val read = TrieMap.empty[String, StagedPart]

  def of(session: SparkSession, root: Path, run: String): StagedParts =
    new StagedParts(root.getFileSystem(session.sessionState.newHadoopConf()), root, run)
}
