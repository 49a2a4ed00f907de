package org.apache.spark.sql.colocate.compat.delta

import org.apache.spark.sql.delta.SnapshotDescriptor
import org.apache.spark.sql.types.StructType

/** A pinned Delta snapshot: its metadata as it was committed, generation expressions included. */
final class DeltaSnapshot private[delta] (private[delta] val pinned: SnapshotDescriptor) {

  /** Schema of the snapshot, unstripped: field metadata carries generation expressions and type changes. */
  lazy val schema: StructType = pinned.metadata.schema

  lazy val partitionSchema: StructType = pinned.metadata.partitionSchema

  lazy val properties: Map[String, String] = pinned.metadata.configuration

  def tableId: String = pinned.metadata.id

  def version: Long = pinned.version

  /** A column's name in the log, where column mapping gives it another one. */
  def physicalName(column: String): String =
    schema.fields.find(_.name == column).fold(column)(MappedColumns.physicalName)
}
