package org.apache.spark.sql.colocate.compat.delta

/**
 * Delta's classes that are recognised by their names. A session without Delta has to say that a plan or a table is none
 * of Delta's, and where a part of Delta is gone, a table that is refused must be known as one of Delta's: neither can
 * load these classes. Nothing is called by a name. The objects of this package cast to the same classes.
 */
object DeltaClasses {

  private val Delta = "org.apache.spark.sql.delta"

  /** The table in the catalog. */
  val Table = s"$Delta.catalog.DeltaTableV2"

  /** The data source: `USING delta`, `format("delta")`. */
  val Source = s"$Delta.sources.DeltaDataSource"
  val Sink = s"$Delta.sources.DeltaSink"

  /** What reads a table's files. */
  val Format = s"$Delta.DeltaParquetFileFormat"

  /** The files of a table that is read, before they are chosen. */
  val TableIndex = s"$Delta.files.TahoeLogFileIndex"

  /** The chosen files of a query's scan. */
  val PreparedIndex = s"$Delta.stats.PreparedDeltaFileIndex"

  /** The files that a command has chosen, or a stream. */
  val BatchIndex = s"$Delta.files.TahoeBatchFileIndex"

  /** CREATE TABLE LIKE, CLONE and other CREATEs. */
  val CreateTable = s"$Delta.commands.CreateDeltaTableCommand"
  val Restore = s"$Delta.commands.RestoreTableCommand"
  val Convert = s"$Delta.commands.ConvertToDeltaCommand"
  val DropFeature = s"$Delta.tablefeatures.DropFeature"

  /** The analysed node of MERGE. */
  val Merge = "org.apache.spark.sql.catalyst.plans.logical.DeltaMergeInto"

  /** Is it an object of this very class, not of one below it? */
  def is(value: AnyRef, name: String): Boolean = value.getClass.getName == name

  /** Is it of a class in Delta's packages? */
  def isDeltas(value: AnyRef): Boolean = value.getClass.getName.startsWith(s"$Delta.")
}
