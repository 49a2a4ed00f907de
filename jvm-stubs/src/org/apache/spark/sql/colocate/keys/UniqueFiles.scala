package org.apache.spark.sql.colocate.keys

import org.apache.spark.sql.colocate.compat.hooks.{DeltaHooks, SelfCheck}
import org.apache.spark.sql.colocate.evidence.delta.{DeltaReflection, SortedTags}
import org.apache.spark.sql.execution.datasources.FileIndex

/**
 * Proves from Delta's log that the files of a scan have one row for each key. `CALL system.compact` marks all files
 * that it writes with a number of its own, in the tags of their AddFile actions. Rows with equal keys are in the same
 * bucket and partition; so it is proven where all files of a bucket and partition have the same mark. Whatever writes
 * rows anew makes files without the mark.
 */
object UniqueFiles {

  def has(index: FileIndex): Boolean =
    SelfCheck.has(DeltaHooks.FileTags) && DeltaReflection.isPrepared(index) &&
      others(DeltaReflection.preparedAddFiles(index)).isEmpty

  /** The files, as Delta's AddFile, of the buckets and partitions for which it is not proven. */
  def others(addFiles: Seq[AnyRef]): Seq[AnyRef] =
    addFiles.groupBy(DeltaReflection.partitionOf).values.filterNot(areOfOneCompaction).flatten.toSeq

  private def areOfOneCompaction(addFiles: Seq[AnyRef]): Boolean = {
    val marks = addFiles.map(DeltaReflection.tagsOf(_).get(SortedTags.Compacted)).distinct
    marks.size == 1 && marks.head.isDefined
  }
}
