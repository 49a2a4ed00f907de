package org.apache.spark.sql.colocate.evidence.delta

import scala.util.Try

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.colocate.compat.delta._
import org.apache.spark.sql.colocate.compat.hooks.{DeltaHooks, SelfCheck}
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.execution.datasources.{FileIndex, HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.types.StructType

/**
 * The files and the snapshot of a Delta table that is read or changed. Whether they are Delta's is asked in sessions
 * without it, too. The objects of `compat.delta` have the calls of Delta's classes.
 */
object DeltaIndexes {

  def isDeltaIndex(index: FileIndex): Boolean = DeltaClasses.isDeltas(index)

  /** Is the index pinned to a snapshot whose files are all of that snapshot? */
  def isPinned(index: FileIndex): Boolean = isPrepared(index) || isOfTransaction(index)

  /** The index of a table that is read, before its files are chosen. */
  def isOfTable(index: FileIndex): Boolean = DeltaClasses.is(index, DeltaClasses.TableIndex)

  /** The index of a query's scan, where it can be asked for its snapshot and its files. */
  def isPrepared(index: FileIndex): Boolean =
    DeltaClasses.is(index, DeltaClasses.PreparedIndex) && SelfCheck.has(DeltaHooks.PreparedScan)

  private def isOfCommand(index: FileIndex): Boolean =
    DeltaClasses.is(index, DeltaClasses.BatchIndex) && SelfCheck.has(DeltaHooks.Transaction)

  /** The index that MERGE, UPDATE and DELETE make of the files that their transaction selected. */
  def isOfTransaction(index: FileIndex): Boolean = isOfCommand(index) && RunningCommands.hasChosen(index)

  /** Does a command of Delta's run in this thread? Its plans are its own, not a user's. */
  def inTransaction: Boolean = SelfCheck.has(DeltaHooks.Transaction) && RunningCommands.isOne

  /** A table's properties in the snapshot that a relation was made of, whatever its index. */
  def propertiesOf(files: HadoopFsRelation): Map[String, String] =
    if (hasSnapshot(files)) TableSnapshots.propertiesOf(files.fileFormat) else Map.empty

  /** The schema of that snapshot, generation expressions included. */
  def schemaOf(files: HadoopFsRelation): StructType =
    if (hasSnapshot(files)) TableSnapshots.schemaOf(files.fileFormat) else new StructType

  private def hasSnapshot(files: HadoopFsRelation): Boolean = DeltaClasses.is(files.fileFormat, DeltaClasses.Format)

  /** The schema that a table has in the newest version that this driver knows, or in that of a time travel. */
  def newestSchema(tableIndex: FileIndex): Option[StructType] =
    if (SelfCheck.has(DeltaHooks.NewestSnapshot)) Try(TableIndexes.newestKnown(tableIndex).schema).toOption else None

  /** Fails as Delta does, if the table has another schema than it had when the relation was made. */
  def checkNewest(tableIndex: FileIndex): Unit =
    if (SelfCheck.has(DeltaHooks.NewestSnapshot)) TableIndexes.check(tableIndex)

  /** Has Delta given a relation the column by which it leaves out rows that a deletion vector marks? */
  def marksDeletedRows(relation: LogicalRelation): Boolean = relation.output.exists(c => isDeletionMark(c.name))

  /** Does the reader of the files set this column for rows that a deletion vector has? */
  def isDeletionMark(column: String): Boolean = column == "__delta_internal_is_row_deleted"

  def snapshotOf(pinnedIndex: FileIndex): DeltaSnapshot =
    if (isPrepared(pinnedIndex)) PreparedScans.snapshotOf(pinnedIndex) else RunningCommands.snapshotOf(pinnedIndex)

  /** The snapshot that a Delta table of the catalog stands for (its time travel included). */
  def snapshotOfTable(table: Table): DeltaSnapshot = TableSnapshots.of(table)

  /** Rows of the log's AddFile actions (Dataset[AddFile]), for questions about files. */
  def allFilesOf(snapshot: DeltaSnapshot): DataFrame = PreparedScans.allFilesOf(snapshot)

  /** The files of a transaction's index, with the size of each, and its rows where their statistics were kept. */
  def countedFilesOf(batchIndex: FileIndex): Seq[ChosenFile] = RunningCommands.countedFilesOf(batchIndex)

  /** The files that the prepared scan chose, from memory. */
  def preparedFiles(preparedIndex: FileIndex): Seq[TableFile] = PreparedScans.filesOf(preparedIndex)

  /** The filters by which the prepared scan chose its files. */
  def preparedFilters(preparedIndex: FileIndex): Seq[Expression] = TaggedFiles.filtersOf(preparedIndex)

  /** The files of a scan that are known before it runs. */
  def knownFiles(index: FileIndex): Seq[TableFile] =
    if (isPrepared(index)) preparedFiles(index)
    else if (isOfCommand(index)) RunningCommands.filesOf(index)
    else Nil

  def dataPath(deltaIndex: FileIndex): Path = TableSnapshots.folderOf(deltaIndex)

  /** The table that OPTIMIZE writes to, if it has chosen these files. Asked where `DeltaHooks.Target` is there. */
  private[delta] def compacted(index: FileIndex): Option[DeltaTarget] =
    if (DeltaClasses.is(index, DeltaClasses.BatchIndex)) WrittenTables.ofCompaction(index) else None
}
