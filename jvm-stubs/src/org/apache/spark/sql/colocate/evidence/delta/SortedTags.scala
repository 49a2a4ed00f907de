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

  private val Name = "colocate.sorted"

  /** The tag of a file that is sorted by these columns. */
  def of(keys: Seq[String]): (String, String) = Name -> keys.mkString(",").toLowerCase(Locale.ROOT)

  /** The names of the files of a scan that are sorted by these columns. Delta makes each name once. */
  def namesOf(index: FileIndex, keys: Seq[String]): Set[String] =
    if (!SelfCheck.has(DeltaHooks.FileTags)) Set.empty
    else {
      val (name, value) = of(keys)
      DeltaReflection.loggedFiles(DeltaReflection.addFilesOf(index)).filter(_.tags.get(name).contains(value))
        .map(file => new Path(file.path).getName).toSet
    }

  def has(names: Set[String], file: PartitionedFile): Boolean = names.contains(file.toPath.getName)
}
