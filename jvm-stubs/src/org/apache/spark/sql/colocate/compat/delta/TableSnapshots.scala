package org.apache.spark.sql.colocate.compat.delta

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.delta.DeltaParquetFileFormat
import org.apache.spark.sql.delta.catalog.DeltaTableV2
import org.apache.spark.sql.delta.files.TahoeFileIndex
import org.apache.spark.sql.execution.datasources.{FileFormat, FileIndex}
import org.apache.spark.sql.types.StructType

/** The metadata of Delta's tables and relations. */
private[colocate] object TableSnapshots {

  /** The snapshot that a table of the catalog stands for (its time travel included). */
  def of(table: Table): DeltaSnapshot = new DeltaSnapshot(table.asInstanceOf[DeltaTableV2].initialSnapshot)

  /** The properties in the snapshot that a relation was made of. */
  def propertiesOf(format: FileFormat): Map[String, String] = deltas(format).metadata.configuration

  /** The schema of that snapshot, generation expressions included. */
  def schemaOf(format: FileFormat): StructType = deltas(format).metadata.schema

  /** The table's folder. */
  def folderOf(index: FileIndex): Path = index.asInstanceOf[TahoeFileIndex].path

  private def deltas(format: FileFormat): DeltaParquetFileFormat = format.asInstanceOf[DeltaParquetFileFormat]
}
