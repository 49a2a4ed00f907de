package org.apache.spark.sql.colocate.compat.delta

import org.apache.spark.sql.delta.OptimisticTransaction
import org.apache.spark.sql.delta.files.TahoeBatchFileIndex
import org.apache.spark.sql.execution.datasources.FileIndex

/** The transaction that a command of Delta's has opened in this thread, and the files that it has chosen. */
private[colocate] object RunningCommands {

  // "batch" is MERGE's own word, for historical reasons.
  private val changes = Set("batch", "merge", "update", "delete")

  def isOne: Boolean = OptimisticTransaction.getActive().isDefined

  /**
   * Has MERGE, UPDATE or DELETE made this index, of the files that its transaction selected? The class alone proves
   * nothing: a stream puts files of later commits into it. So its snapshot must be that of the transaction that is
   * active in this thread, which commands set and streams do not.
   */
  def hasChosen(index: FileIndex): Boolean = {
    val files = chosen(index)
    changes(files.actionType) && OptimisticTransaction.getActive().exists(_.snapshot eq files.snapshot)
  }

  def snapshotOf(index: FileIndex): DeltaSnapshot = new DeltaSnapshot(chosen(index).snapshot)

  def filesOf(index: FileIndex): Seq[TableFile] = chosen(index).addFiles.map(new TableFile(_))

  /** The same with the rows of each file, where their statistics were kept. */
  def countedFilesOf(index: FileIndex): Seq[ChosenFile] =
    chosen(index).addFiles.map(file => ChosenFile(file.partitionValues, file.numPhysicalRecords, file.size))

  private def chosen(index: FileIndex): TahoeBatchFileIndex = index.asInstanceOf[TahoeBatchFileIndex]
}
