package org.apache.spark.sql.colocate.evidence.manifest

import java.io.{FileNotFoundException, IOException}
import java.util.concurrent.CompletableFuture
import scala.collection.concurrent.TrieMap
import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, FileSystem, Path}
import org.apache.spark.internal.Logging
import org.apache.spark.sql.colocate.evidence.files.FileStamp
import org.apache.spark.sql.colocate.layout.BucketLayout
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.apache.spark.util.ThreadUtils

/** The checked files of a native table under one layout: `true` for a stray, `false` if all rows are in its bucket. */
case class KnownFiles(root: Path, files: Map[FileStamp, Boolean]) {
  def isChecked(file: PartitionedFile): Boolean = files.get(FileStamp.of(root, file)).contains(false)
  def isStray(file: PartitionedFile): Boolean = files.get(FileStamp.of(root, file)).contains(true)

  /** Is the file a stray? None where nothing is known of it. */
  def of(file: FileStatus): Option[Boolean] = if (files.isEmpty) None else files.get(FileStamp.of(root, file))
}

/**
 * The manifest of a native table: small files in the hidden folder `_colocate` beside its data, so that it is where the
 * data are, for every driver, and goes when an overwrite removes them. Losing a part of it only costs another check;
 * a line about a file that was replaced says nothing, because length and time are part of it.
 */
object Manifest extends Logging {

  private val ManyFiles = 50
  private val ManyTables = 1000

  private type Parts = Map[Path, Map[FileStamp, Boolean]]

  private val cached = TrieMap.empty[(Path, BucketLayout), Parts]

  /** The current state: lists a small folder, and reads the parts that are new. */
  def load(conf: Configuration, root: Path, layout: BucketLayout): KnownFiles = {
    val fs = root.getFileSystem(conf)
    val before = partsOf(root, layout)
    val saved = list(fs, root).map(p => p -> before.getOrElse(p, ManifestFile.read(fs, p, layout))).toMap
    // Parts that were added meanwhile are not in the listing.
    val parts = change(root, layout) { now =>
      saved ++ now.filter { case (path, _) => path == Unsaved || !before.contains(path) }
    }
    KnownFiles(root, merged(parts))
  }

  /** The state that this driver saw last, for planning. */
  def seen(conf: => Configuration, root: Path, layout: BucketLayout): KnownFiles =
    cached.get((root, layout)).map(parts => KnownFiles(root, merged(parts))).getOrElse(load(conf, root, layout))

  /** Adds what is known of files. If the folder can't be written, only this driver remembers it. */
  def add(conf: Configuration, root: Path, layout: BucketLayout, files: Map[FileStamp, Boolean]): Unit =
    if (files.nonEmpty) {
      remember(root, layout, files)
      save(root.getFileSystem(conf), root, layout)
    }

  /** Keeps what is known of files in this driver until it is saved. */
  def remember(root: Path, layout: BucketLayout, files: Map[FileStamp, Boolean]): Unit =
    if (files.nonEmpty) {
      change(root, layout) { parts =>
        parts + (Unsaved -> joined(parts.getOrElse(Unsaved, Map.empty), files))
      }
    }

  /** Saves it in the background, for callers that must not wait, such as Spark's scheduler; see `awaitSaved`. */
  def saveSoon(fs: FileSystem, root: Path, layout: BucketLayout, table: String): Unit = {
    val done = new CompletableFuture[Unit]
    saving.put(root, Saving(table, done))
    saver.execute { () =>
      try save(fs, root, layout)
      catch { case NonFatal(e) => logWarning(s"The manifest of $root could not be written", e) }
      finally {
        saving.remove(root, Saving(table, done))
        done.complete(())
      }
    }
  }

  /** Is anything being saved? */
  def isSaving: Boolean = saving.nonEmpty

  /** Waits until all is saved for the tables whose name, without the database, fulfils the condition. */
  def awaitSaved(concerns: String => Boolean): Unit =
    saving.values.filter(one => concerns(one.table.split('.').last)).foreach(_.done.get())

  private case class Saving(table: String, done: CompletableFuture[Unit])

  // The last one of each table. One thread saves them in order: once the last one is done, all are.
  private val saving = TrieMap.empty[Path, Saving]
  private lazy val saver = ThreadUtils.newDaemonSingleThreadExecutor("colocate-manifest")

  private def save(fs: FileSystem, root: Path, layout: BucketLayout): Unit = {
    val files = partsOf(root, layout).getOrElse(Unsaved, Map.empty)
    if (files.nonEmpty) try {
      val path = ManifestFile.write(fs, root, layout, files)
      change(root, layout) { parts =>
        val left = parts.getOrElse(Unsaved, Map.empty)
          .filterNot { case (file, stray) => files.get(file).contains(stray) }
        parts - Unsaved ++ Option.when(left.nonEmpty)(Unsaved -> left) + (path -> files)
      }
      if (list(fs, root).size > ManyFiles) merge(fs, root, layout)
    } catch {
      case e: IOException =>
        logWarning(s"The manifest of $root could not be written; its files will be checked again: $e")
    }
  }

  // Stands for what is not in a file yet.
  private val Unsaved = new Path("unsaved")

  private def partsOf(root: Path, layout: BucketLayout): Parts = cached.getOrElse((root, layout), Map.empty)

  private def change(root: Path, layout: BucketLayout)(to: Parts => Parts): Parts = cached.synchronized {
    val parts = to(partsOf(root, layout))
    if (cached.size > ManyTables) cached.clear()
    cached.put((root, layout), parts)
    parts
  }

  // A file that one part calls a stray is a stray, even if another part calls it checked.
  private def joined(all: Map[FileStamp, Boolean], part: Map[FileStamp, Boolean]): Map[FileStamp, Boolean] =
    all ++ part.map { case (file, stray) => file -> (stray || all.getOrElse(file, false)) }

  private def merged(parts: Parts): Map[FileStamp, Boolean] =
    parts.values.foldLeft(Map.empty[FileStamp, Boolean])(joined)

  private def list(fs: FileSystem, root: Path): Seq[Path] =
    try fs.listStatus(ManifestFile.folder(root)).toSeq.map(_.getPath).filter(ManifestFile.isOne)
    catch { case _: FileNotFoundException => Nil }

  /** Many parts become one, without the files that are gone; a reader meanwhile knows less for a moment. */
  private def merge(fs: FileSystem, root: Path, layout: BucketLayout): Unit =
    try {
      val parts = list(fs, root)
      val all = merged(parts.map(p => p -> ManifestFile.read(fs, p, layout)).toMap)
      val present = all.keys.groupBy(file => new Path(root, file.path).getParent).flatMap { case (folder, files) =>
        val there = statuses(fs, folder).map(s => s.getPath.getName -> s.getLen).toSet
        files.filter(f => there(new Path(f.path).getName -> f.length))
      }.toSet
      ManifestFile.write(fs, root, layout, all.filter { case (file, _) => present(file) })
      parts.foreach(fs.delete(_, false))
    } catch { case e: IOException => logWarning(s"The manifest of $root could not be merged: $e") }

  private def statuses(fs: FileSystem, folder: Path): Seq[FileStatus] =
    try fs.listStatus(folder).toSeq catch { case _: FileNotFoundException => Nil }
}
