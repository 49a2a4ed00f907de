package org.apache.spark.sql.colocate.evidence.delta

import org.apache.spark.sql.colocate.compat.delta.FileRewrites
import org.apache.spark.sql.types.Metadata

/** The numbers that Delta gives the rows of a table with the property `delta.enableRowTracking`. */
object RowTracking {

  /** In `_metadata`, a row's number. */
  val RowId = "row_id"

  /** Beside it, the number from which Delta numbers the rows of a file. */
  val FirstRowId = "base_row_id"

  /** The table property that names the column in which rows that were moved to another file keep their numbers. */
  val KeptRowIdColumn = "delta.rowTracking.materializedRowIdColumnName"

  /** By this, Delta's writers know the column that keeps the numbers of rows that move to another file. */
  def rowIdMetadata(column: String): Metadata = FileRewrites.rowIdMetadata(column)

  /** The same for the column that keeps the version of the table in which a row was last written. */
  def rowVersionMetadata(column: String): Metadata = FileRewrites.rowVersionMetadata(column)
}
