package org.apache.spark.sql.colocate.evidence.delta

import java.util.Locale

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.colocate.compat.hooks.{DeltaHooks, SelfCheck}
import org.apache.spark.sql.execution.datasources.{FileIndex, PartitionedFile}

/**
 * Knows from Delta's log which files of a table with a key model have their rows in the order of its key columns: those
 * whose AddFile actions have a tag, which the extension's writers set. A deletion vector only removes rows; whatever
 * writes rows anew makes files without the tag.
 */
object SortedTags {

  private val Sorted = "colocate.sorted"

  private val Loaded = "colocate.loaded" -> "true"

  /** The tag of a file that is sorted by these columns. */
  def of(keys: Seq[String]): (String, String) = Sorted -> keys.mkString(",").toLowerCase(Locale.ROOT)

  /** The tags of such a file whose rows are new: Delta then numbers them in the order of the file. */
  def ofLoad(keys: Seq[String]): Map[String, String] = Map(of(keys), Loaded)

  /** The files of a scan that are sorted by these columns. */
  def filesOf(index: FileIndex, keys: Seq[String]): SortedFiles =
    if (!SelfCheck.has(DeltaHooks.FileTags)) SortedFiles(Map.empty)
    else {
      val (name, value) = of(keys)
      SortedFiles(DeltaReflection.loggedFiles(DeltaReflection.addFilesOf(index)).collect {
        case file if file.tags.get(name).contains(value) =>
          new Path(file.path).getName -> file.firstRow.filter(_ => file.tags.get(Loaded._1).contains(Loaded._2))
      }.toMap)
    }
}

/** @param firstRows by the file's name, which Delta makes once: see `firstRow` */
case class SortedFiles(firstRows: Map[String, Option[Long]]) {

  def has(file: PartitionedFile): Boolean = firstRows.contains(file.toPath.getName)

  /**
   * Delta's number of the file's first row, if the other rows have the numbers that follow. A row that was moved here
   * from another file has kept its number.
   */
  def firstRow(file: PartitionedFile): Option[Long] = firstRows.get(file.toPath.getName).flatten
}
