package org.apache.spark.sql.colocate.evidence.delta

import java.util.Locale

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.colocate.compat.delta.{LoggedFile, TaggedFiles}
import org.apache.spark.sql.colocate.compat.hooks.{DeltaHooks, SelfCheck}
import org.apache.spark.sql.execution.datasources.{FileIndex, PartitionedFile}

/**
 * Knows from Delta's log which files of a table with a key model have their rows in the order of its key columns: those
 * whose AddFile actions have a tag, which the extension's writers set. A deletion vector only removes rows; whatever
 * writes rows anew makes files without the tag.
 */
object SortedTags {

  private val Sorted = "colocate.sorted"

  private[delta] val Loaded = "colocate.loaded" -> "true"

  /** The name of the tag of a file of a compaction. See UniqueFiles. */
  val Compacted = "colocate.compacted"

  /** The tag of a file that is sorted by these columns. */
  def of(keys: Seq[String]): (String, String) = Sorted -> keys.mkString(",").toLowerCase(Locale.ROOT)

  /** The tags of such a file whose rows are new: Delta then numbers them in the order of the file. */
  def ofLoad(keys: Seq[String]): Map[String, String] = Map(of(keys), Loaded)

  /** The files of a scan that are sorted by these columns. */
  def filesOf(index: FileIndex, keys: Seq[String]): SortedFiles =
    if (!SelfCheck.has(DeltaHooks.FileTags)) SortedFiles(Map.empty)
    else {
      val (name, value) = of(keys)
      SortedFiles(DeltaIndexes.knownFiles(index).collect {
        case file if file.tags.get(name).contains(value) => new Path(file.path).getName -> TaggedFiles.logged(file)
      }.toMap)
    }
}

/** @param byName Delta makes the name of a file once */
case class SortedFiles(byName: Map[String, LoggedFile]) {
  import SortedTags.{Compacted, Loaded}

  def has(file: PartitionedFile): Boolean = byName.contains(file.toPath.getName)

  /**
   * Are these files, which are all of a bucket and partition, in the order of their loads by `placeOf`? Then rows of a
   * key in a later file have greater row numbers of Delta's, and so have later rows of a file.
   *
   * The rows of a load have the number of their file's first row and those that follow. A compaction has replaced all
   * files that were there, and has one row for each key; if rows came to it from another bucket there may be a second
   * one. Moved rows, as a repair writes them, have kept their numbers, which may be any.
   */
  def haveOrder(files: Seq[PartitionedFile]): Boolean =
    files.forall(placeOf(_).isDefined) && files.flatMap(logged).flatMap(_.tags.get(Compacted)).distinct.size <= 1

  /** A number by which the files of a bucket and partition are sorted; None where their order is not known. */
  def placeOf(file: PartitionedFile): Option[Long] = logged(file).flatMap { found =>
    if (found.tags.contains(Compacted)) Some(-1) // before all loads
    else found.firstRow.filter(_ => found.tags.get(Loaded._1).contains(Loaded._2))
  }

  private def logged(file: PartitionedFile): Option[LoggedFile] = byName.get(file.toPath.getName)
}
