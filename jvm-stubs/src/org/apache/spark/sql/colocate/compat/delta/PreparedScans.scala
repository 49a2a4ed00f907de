package org.apache.spark.sql.colocate.compat.delta

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.delta.stats.{DeltaScan, PreparedDeltaFileIndex}
import org.apache.spark.sql.delta.{GeneratedColumn, Snapshot}
import org.apache.spark.sql.execution.datasources.FileIndex

/** What Delta has chosen for the scan of a query: a snapshot and its files. */
private[colocate] object PreparedScans {

  def snapshotOf(index: FileIndex): DeltaSnapshot = new DeltaSnapshot(scan(index).scannedSnapshot)

  /** The chosen files, from memory. */
  def filesOf(index: FileIndex): Seq[TableFile] = scan(index).files.map(new TableFile(_))

  /** Rows of the log's AddFile actions, for questions about files. */
  def allFilesOf(snapshot: DeltaSnapshot): DataFrame = snapshot.pinned match {
    case whole: Snapshot => whole.allFiles.toDF()
    case other => throw new IllegalArgumentException(s"$other does not list its files")
  }

  /** Without the table feature, a writer may store other values than the generation expression gives. */
  def enforceGeneratedColumns(snapshot: DeltaSnapshot): Boolean =
    GeneratedColumn.satisfyGeneratedColumnProtocol(snapshot.pinned.protocol)

  private def scan(index: FileIndex): DeltaScan = index.asInstanceOf[PreparedDeltaFileIndex].preparedScan
}
