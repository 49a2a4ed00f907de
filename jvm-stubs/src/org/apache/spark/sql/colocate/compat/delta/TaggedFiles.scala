package org.apache.spark.sql.colocate.compat.delta

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.delta.stats.PreparedDeltaFileIndex
import org.apache.spark.sql.execution.datasources.FileIndex

/** What the log says of files with tags, and by which filters the prepared scan chose its files. */
private[colocate] object TaggedFiles {

  def logged(file: TableFile): LoggedFile = LoggedFile(file.path, file.tags, file.action.baseRowId)

  def filtersOf(preparedIndex: FileIndex): Seq[Expression] =
    preparedIndex.asInstanceOf[PreparedDeltaFileIndex].preparedScan.filtersUsedForSkipping.toSeq
}
