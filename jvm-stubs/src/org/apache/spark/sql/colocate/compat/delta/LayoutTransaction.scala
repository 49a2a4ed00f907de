package org.apache.spark.sql.colocate.compat.delta

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.delta.actions.{Action, AddFile, Protocol, SetTransaction}
import org.apache.spark.sql.delta.catalog.DeltaTableV2
import org.apache.spark.sql.delta.files.DelayedCommitProtocol
import org.apache.spark.sql.delta.{
  DeltaLog, DeltaOperations, GeneratedColumnsTableFeature, NoMapping, OptimisticTransaction
}
import org.apache.spark.sql.types.{MetadataBuilder, StructField, StructType}
import org.apache.spark.sql.{DataFrame, Dataset}

/** Another commit came first: nothing was changed. */
final class AnotherCommitException extends RuntimeException("Another commit has changed the table first")

/**
 * A transaction that gives a table one more partition column. Its commit changes the metadata and all files at once,
 * and only the very next version of the table: any other commit in between makes it fail with
 * [[AnotherCommitException]], so what it has read is what it replaces.
 */
private[delta] class LayoutTransaction(log: DeltaLog, entry: Option[CatalogTable], folder: String)
    extends OptimisticTransaction(log, entry, log.update(catalogTableOpt = entry)) {

  /**
   * Below a folder of their own, files that are never committed are found and removed. They lie in folders of
   * partitions even where Delta would give them random ones: VACUUM leaves a folder alone whose name begins with an
   * underscore, while it is none of a partition column.
   */
  override protected def getCommitter(outputPath: Path): DelayedCommitProtocol =
    new DelayedCommitProtocol("delta", outputPath.toString, None, Some(folder))

  override protected def getConflictingVersions(previousAttemptVersion: Long): Seq[FileStatus] =
    throw new AnotherCommitException
}

/** Such a transaction for other packages: the table as it starts at, its new files, and its commit. */
final class OpenLayoutChange private[delta] (transaction: LayoutTransaction) {

  def snapshot: DeltaSnapshot = new DeltaSnapshot(transaction.snapshot)

  /** All files of the table. */
  def files: Seq[TableFile] = transaction.filterFiles().map(new TableFile(_))

  private[delta] def paths: Set[String] =
    transaction.snapshot.allFiles.collect().map(_.path).toSet ++
      transaction.snapshot.tombstones.collect().map(_.path)

  /** What a commit has noted under a name: see [[note]] and [[commit]]. None if there was none. */
  def noted(name: String): Option[Long] = Some(transaction.txnVersion(name)).filter(_ >= 0)

  /** The rows of some files, as a command of Delta's reads them. */
  def read(files: Seq[TableFile]): DataFrame =
    transaction.deltaLog.createDataFrame(transaction.snapshot, files.map(_.action))

  /** Adds a generated column, by which the table is partitioned, too, and properties; before anything is written. */
  def add(column: StructField, properties: Map[String, String]): Unit = {
    val before = transaction.metadata
    val isMapped = before.columnMappingMode != NoMapping
    transaction.updateProtocol(transaction.protocol.merge(LayoutChanges.needed))
    transaction.updateMetadata(before.copy(
      schemaString = before.schema.add(if (isMapped) withPhysicalName(column) else column).json,
      partitionColumns = before.partitionColumns :+ column.name,
      configuration = before.configuration ++ properties))
  }

  /** The files are written by several transactions, and all must use the same name in the log. */
  private def withPhysicalName(column: StructField): StructField = column.copy(metadata =
    new MetadataBuilder().withMetadata(column.metadata)
      .putString(MappedColumns.PhysicalNameKey, column.name).build())

  /** Writes files that are not part of the table before `commit`. Delta neither joins nor compacts them. */
  def write(rows: Dataset[_]): Seq[TableFile] =
    transaction.writeFiles(rows, None, isOptimize = true, Nil).collect { case file: AddFile => new TableFile(file) }

  /**
   * Replaces all files by new ones with the same rows: neither the change feed nor streams see a changed row.
   *
   * @param name under which the commit is noted, with the number 1
   */
  def commit(removed: Seq[TableFile], added: Seq[TableFile], name: String): Unit = {
    val now = System.currentTimeMillis()
    val gone = removed.map(_.action.removeWithTimestamp(now, dataChange = false))
    val moved = added.map(_.action.copy(dataChange = false))
    val actions = (gone: Seq[Action]) ++ moved :+ SetTransaction(name, 1L, Some(now))
    transaction.commit(actions, DeltaOperations.ManualUpdate)
  }

  /** Notes the number 0 in a commit that changes nothing else: a commit that began before it fails. */
  def note(name: String): Unit = {
    val action = SetTransaction(name, 0L, Some(System.currentTimeMillis()))
    transaction.commit(Seq[Action](action), DeltaOperations.ManualUpdate)
  }
}

private[colocate] object LayoutChanges {

  private[delta] def needed: Protocol = Protocol(1, 7).withFeature(GeneratedColumnsTableFeature)

  /** @param folder where new files are written, relative to the table's */
  def on(table: Table, folder: String): OpenLayoutChange = {
    val of = table.asInstanceOf[DeltaTableV2]
    new OpenLayoutChange(new LayoutTransaction(of.deltaLog, of.catalogTable, folder))
  }

  /** A file as a line of the log, which `fromJson` reads. */
  def json(file: TableFile): String = file.action.json

  def fromJson(line: String): TableFile = new TableFile(Action.fromJson(line).asInstanceOf[AddFile])

  /** A file with its deletion vector: after another DELETE it has another name. */
  def versionOf(file: TableFile): String =
    file.path + file.action.getDeletionVectorUniqueId.fold("")(vector => s"#$vector")

  /** Without the deleted ones; None where no statistics were kept. */
  def rowsOf(file: TableFile): Option[Long] = file.action.numLogicalRecords

  /** The paths of all files of the newest version of a table, and of those of older ones that VACUUM still keeps. */
  def pathsOf(change: OpenLayoutChange): Set[String] = change.paths

  /** The names of the features that a writer of this snapshot must know. */
  def featuresOf(snapshot: DeltaSnapshot): Set[String] =
    snapshot.pinned.protocol.implicitlyAndExplicitlySupportedFeatures.map(_.name)

  /** The columns of a schema that are identity columns. */
  def identitiesOf(schema: StructType): Set[String] =
    schema.filter(_.metadata.contains("delta.identity.start")).map(_.name).toSet
}
