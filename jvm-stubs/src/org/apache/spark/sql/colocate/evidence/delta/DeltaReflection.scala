package org.apache.spark.sql.colocate.evidence.delta

import java.lang.reflect.Method

import scala.util.Try

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, ExpressionSet}
import org.apache.spark.sql.colocate.compat.hooks.{DeltaHooks, SelfCheck}
import org.apache.spark.sql.execution.datasources.{FileIndex, HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.types.{Metadata, StructField, StructType}
import org.apache.spark.util.Utils

/**
 * The only place that uses Delta's classes, by reflection, so that the jar works without Delta and with its patch
 * releases. What is called here is listed in hooks/DeltaHooks and tried at the start.
 */
object DeltaReflection {

  private val PreparedIndex = "org.apache.spark.sql.delta.stats.PreparedDeltaFileIndex"
  private val BatchIndex = "org.apache.spark.sql.delta.files.TahoeBatchFileIndex"
  private val TableIndex = "org.apache.spark.sql.delta.files.TahoeLogFileIndex"
  private[colocate] val PhysicalNameKey = "delta.columnMapping.physicalName"

  /** A column's name in the files and the log, where column mapping gives it another one. */
  def physicalName(column: StructField): String =
    if (column.metadata.contains(PhysicalNameKey)) column.metadata.getString(PhysicalNameKey) else column.name

  private val Format = "org.apache.spark.sql.delta.DeltaParquetFileFormat"
  private val DeltaPackage = "org.apache.spark.sql.delta."

  def isDeltaIndex(index: FileIndex): Boolean = index.getClass.getName.startsWith(DeltaPackage)

  /** Is the index pinned to a snapshot whose files are all of that snapshot? */
  def isPinned(index: FileIndex): Boolean = isPrepared(index) || isOfTransaction(index)

  /** The index of a table that is read, before its files are chosen. */
  def isOfTable(index: FileIndex): Boolean = index.getClass.getName == TableIndex

  /** In `_metadata`, the number that Delta gives a row with the table property `delta.enableRowTracking`. */
  val RowId = "row_id"

  /** Beside it, the number from which Delta numbers the rows of a file. */
  val FirstRowId = "base_row_id"

  /** The table property that names the column in which rows that were moved to another file keep their numbers. */
  val KeptRowIdColumn = "delta.rowTracking.materializedRowIdColumnName"

  /** By this, Delta's writers know the column that keeps the numbers of rows that move to another file. */
  def rowIdMetadata(column: String): Metadata = columnMetadata("RowId", column)

  /** The same for the column that keeps the version of the table in which a row was last written. */
  def rowVersionMetadata(column: String): Metadata = columnMetadata("RowCommitVersion", column)

  private def columnMetadata(of: String, column: String): Metadata = {
    val kind = companion(of)
    method(kind, "columnMetadata", arguments = 2).invoke(kind, column, Boolean.box(false)).asInstanceOf[Metadata]
  }

  /** Of an AddFile: as Delta's log has it, a relative or an absolute URI. */
  def pathOf(addFile: AnyRef): String = call(addFile, "path").asInstanceOf[String]

  /** A table's properties in the snapshot that a relation was made of, whatever its index. */
  def propertiesOf(files: HadoopFsRelation): Map[String, String] =
    metadataOf(files).fold(Map.empty[String, String])(call(_, "configuration").asInstanceOf[Map[String, String]])

  /** The schema of that snapshot, generation expressions included. */
  def schemaOf(files: HadoopFsRelation): StructType =
    metadataOf(files).fold(new StructType)(call(_, "schema").asInstanceOf[StructType])

  /**
   * The schema that a table has in the newest version that this driver knows, or in that of a time travel. Delta looks
   * for a newer version only when it chooses the files.
   */
  def newestSchema(tableIndex: FileIndex): Option[StructType] = Try {
    val snapshot =
      if (call(tableIndex, "isTimeTravelQuery").asInstanceOf[Boolean]) call(tableIndex, "snapshotAtAnalysis")
      else call(call(call(tableIndex, "deltaLog"), "getCapturedSnapshot"), "snapshot")
    new DeltaSnapshot(snapshot).schema
  }.toOption

  private def metadataOf(files: HadoopFsRelation): Option[AnyRef] =
    Option.when(files.fileFormat.getClass.getName == Format)(call(files.fileFormat, "metadata"))

  /** Has Delta given a relation the column by which it leaves out rows that a deletion vector marks? */
  def marksDeletedRows(relation: LogicalRelation): Boolean = relation.output.exists(c => isDeletionMark(c.name))

  /** Does the reader of the files set this column for rows that a deletion vector has? */
  def isDeletionMark(column: String): Boolean = column == "__delta_internal_is_row_deleted"

  /** The index of a query's scan. */
  def isPrepared(index: FileIndex): Boolean = index.getClass.getName == PreparedIndex

  /**
   * The index that MERGE, UPDATE and DELETE make of the files that their transaction selected. The class alone proves
   * nothing: a stream puts files of later commits into it. So its snapshot must be that of the transaction that is
   * active in this thread, which commands set and streams do not.
   */
  def isOfTransaction(index: FileIndex): Boolean =
    index.getClass.getName == BatchIndex && SelfCheck.has(DeltaHooks.Transaction) && isDmlAction(index) &&
      activeSnapshot.exists(_ eq call(index, "snapshot"))

  /** Is the index made of the files that a command has chosen, and is this the command's name for what it does? */
  private[delta] def isOfCommand(index: FileIndex, action: String): Boolean =
    index.getClass.getName == BatchIndex && call(index, "actionType") == action

  // "batch" is MERGE's own word, for historical reasons.
  private def isDmlAction(index: FileIndex): Boolean =
    Set[AnyRef]("batch", "merge", "update", "delete").contains(call(index, "actionType"))

  /** Does a command of Delta's run in this thread? Its plans are its own, not a user's. */
  def inTransaction: Boolean = activeSnapshot.isDefined

  private def activeSnapshot: Option[AnyRef] =
    if (!SelfCheck.has(DeltaHooks.Transaction)) None
    else {
      val transactions = companion("OptimisticTransaction")
      call(transactions, "getActive").asInstanceOf[Option[AnyRef]].map(call(_, "snapshot"))
    }

  def snapshotOf(pinnedIndex: FileIndex): DeltaSnapshot =
    if (isPrepared(pinnedIndex)) new DeltaSnapshot(call(call(pinnedIndex, "preparedScan"), "scannedSnapshot"))
    else new DeltaSnapshot(call(pinnedIndex, "snapshot"))

  /** The files of a transaction's index, with the size of each, and its rows where their statistics were kept. */
  def filesOf(batchIndex: FileIndex): Seq[DeltaFile] =
    call(batchIndex, "addFiles").asInstanceOf[Seq[AnyRef]].map { file =>
      DeltaFile(
        call(file, "partitionValues").asInstanceOf[Map[String, String]],
        call(file, "numPhysicalRecords").asInstanceOf[Option[Long]],
        call(file, "size").asInstanceOf[Long])
    }

  /** The snapshot that a Delta table of the catalog stands for (its time travel included). */
  def snapshotOfTable(table: AnyRef): DeltaSnapshot = new DeltaSnapshot(call(table, "initialSnapshot"))

  /** The files that the prepared scan chose, from memory. */
  def preparedFiles(preparedIndex: FileIndex): Seq[LoggedFile] = loggedFiles(preparedAddFiles(preparedIndex))

  /** What AddFiles say. Their methods are looked up once. */
  def loggedFiles(files: Seq[AnyRef]): Seq[LoggedFile] =
    files.headOption.toSeq.flatMap { first =>
      val path = first.getClass.getMethod("path")
      val values = first.getClass.getMethod("partitionValues")
      val size = first.getClass.getMethod("size")
      val tags = first.getClass.getMethod("tags")
      val firstRow = first.getClass.getMethod("baseRowId")
      files.map { file =>
        LoggedFile(
          path.invoke(file).asInstanceOf[String],
          values.invoke(file).asInstanceOf[Map[String, String]],
          size.invoke(file).asInstanceOf[Long],
          Option(tags.invoke(file).asInstanceOf[Map[String, String]]).getOrElse(Map.empty),
          firstRow.invoke(file).asInstanceOf[Option[Any]].map(_.asInstanceOf[Long]))
      }
    }

  /** The filters by which the prepared scan chose its files. */
  def preparedFilters(preparedIndex: FileIndex): Seq[Expression] =
    call(call(preparedIndex, "preparedScan"), "filtersUsedForSkipping").asInstanceOf[ExpressionSet].toSeq

  /** The files that the prepared scan chose, as Delta's AddFile. */
  def preparedAddFiles(preparedIndex: FileIndex): Seq[AnyRef] =
    call(call(preparedIndex, "preparedScan"), "files").asInstanceOf[Seq[AnyRef]]

  /** The files of a scan that are known before it runs, as Delta's AddFile. */
  def addFilesOf(index: FileIndex): Seq[AnyRef] =
    if (isPrepared(index)) preparedAddFiles(index)
    else if (index.getClass.getName == BatchIndex) call(index, "addFiles").asInstanceOf[Seq[AnyRef]]
    else Nil

  /** Of an AddFile, by physical names of the columns. */
  def partitionOf(addFile: AnyRef): Map[String, String] =
    call(addFile, "partitionValues").asInstanceOf[Map[String, String]]

  /** Of an AddFile; Delta has null for none. */
  def tagsOf(addFile: AnyRef): Map[String, String] =
    Option(call(addFile, "tags").asInstanceOf[Map[String, String]]).getOrElse(Map.empty)

  /** Delta's error for a write that lacks a partition column. */
  def partitionColumnNotFound(column: String, present: Seq[Attribute]): Throwable = {
    val errors = companion("DeltaErrors")
    val method = errors.getClass.getMethods.find(_.getName == "partitionColumnNotFoundException").get
    method.invoke(errors, column, present).asInstanceOf[Throwable]
  }

  /** An error that Delta's writers pass on as it is, instead of inside the error of a job. */
  def invariantViolation(message: String): RuntimeException = {
    val error = Utils.classForName[RuntimeException](s"${DeltaPackage}schema.InvariantViolationException")
    error.getConstructor(classOf[String]).newInstance(message)
  }

  def dataPath(deltaIndex: FileIndex): Path = call(deltaIndex, "path").asInstanceOf[Path]

  private[colocate] def call(target: AnyRef, method: String): AnyRef =
    target.getClass.getMethod(method).invoke(target)

  private[colocate] def companion(name: String): AnyRef = named(s"$name$$").getField("MODULE$").get(null)

  private[delta] def named(name: String): Class[AnyRef] =
    Utils.classForName[AnyRef](s"$DeltaPackage$name", initialize = true, noSparkClassLoader = false)

  private[delta] def method(target: AnyRef, name: String, arguments: Int): Method =
    target.getClass.getMethods.find(m => m.getName == name && m.getParameterCount == arguments).get
}

/** One file of a table's log: partition values by physical name, its rows, deleted ones included, and its size. */
case class DeltaFile(partitionValues: Map[String, String], rows: Option[Long], bytes: Long)

/**
 * What the log says about a data file.
 *
 * @param path            its URI
 * @param partitionValues by physical column name
 * @param firstRow        the number from which its rows are numbered; None without row tracking
 */
case class LoggedFile(
    path: String,
    partitionValues: Map[String, String],
    bytes: Long,
    tags: Map[String, String],
    firstRow: Option[Long])

/** A pinned Delta snapshot: its metadata as it was committed, generation expressions included. */
class DeltaSnapshot(snapshot: AnyRef) {
  import DeltaReflection.{call, companion}

  private lazy val metadata: AnyRef = call(snapshot, "metadata")

  /** Schema of the snapshot, unstripped: field metadata carries generation expressions and type changes. */
  lazy val schema: StructType = call(metadata, "schema").asInstanceOf[StructType]

  lazy val partitionSchema: StructType = call(metadata, "partitionSchema").asInstanceOf[StructType]

  lazy val properties: Map[String, String] = call(metadata, "configuration").asInstanceOf[Map[String, String]]

  def tableId: String = call(metadata, "id").asInstanceOf[String]

  def version: Long = call(snapshot, "version").asInstanceOf[Long]

  /** A column's name in the log, where column mapping gives it another one. */
  def physicalName(column: String): String =
    schema.fields.find(_.name == column).fold(column)(DeltaReflection.physicalName)

  /** Rows of the log's AddFile actions (Dataset[AddFile]), for questions about files. */
  def allFiles: org.apache.spark.sql.classic.DataFrame =
    call(snapshot, "allFiles").asInstanceOf[org.apache.spark.sql.classic.Dataset[_]].toDF()

  /** Without the table feature, a writer may store other values than the generation expression gives. */
  def enforcesGeneratedColumns: Boolean = {
    val generatedColumn = companion("GeneratedColumn")
    val protocol = call(snapshot, "protocol")
    val method = generatedColumn.getClass.getMethods.find(_.getName == "satisfyGeneratedColumnProtocol")
    method.exists(_.invoke(generatedColumn, protocol).asInstanceOf[Boolean])
  }
}
