package org.apache.spark.sql.colocate.compat.delta

import org.apache.spark.sql.delta.files.TahoeLogFileIndex
import org.apache.spark.sql.execution.datasources.FileIndex

/** The files of a table that is read, before Delta chooses them. */
private[colocate] object TableIndexes {

  /**
   * The newest version of the table that this driver knows, or that of a time travel. Delta looks for a newer one only
   * when it chooses the files.
   */
  def newestKnown(index: FileIndex): DeltaSnapshot = {
    val files = tables(index)
    new DeltaSnapshot(
      if (files.isTimeTravelQuery) files.snapshotAtAnalysis else files.deltaLog.unsafeVolatileSnapshot)
  }

  /** Fails as Delta does, if the table has another schema than it had when the relation was made. */
  def check(index: FileIndex): Unit = tables(index).getSnapshot

  private def tables(index: FileIndex): TahoeLogFileIndex = index.asInstanceOf[TahoeLogFileIndex]
}
