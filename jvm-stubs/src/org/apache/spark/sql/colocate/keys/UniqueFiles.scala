package org.apache.spark.sql.colocate.keys

import org.apache.spark.sql.colocate.compat.hooks.{DeltaHooks, SelfCheck}
import org.apache.spark.sql.colocate.evidence.delta.DeltaReflection
import org.apache.spark.sql.execution.datasources.FileIndex

/**
 * Proves from Delta's log that the files of a scan have one row for each key. `CALL system.compact` marks all files
 * that it writes with a number of its own, in the tags of their AddFile actions. Rows with equal keys are in the same
 * bucket and partition; so it is proven where all files of a bucket and partition have the same mark. Whatever writes
 * rows anew makes files without the mark.
 */
object UniqueFiles {

  val Tag = "colocate.compacted"

  def has(index: FileIndex): Boolean =
    SelfCheck.has(DeltaHooks.FileTags) && DeltaReflection.isPrepared(index) && ofOneCompaction(index)

  private def ofOneCompaction(index: FileIndex): Boolean =
    DeltaReflection.preparedTags(index, Tag).groupMap(_._1)(_._2).values.forall { marks =>
      marks.head.isDefined && marks.forall(_ == marks.head)
    }
}
