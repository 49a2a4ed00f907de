package org.apache.spark.sql.colocate.declared

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.colocate.layout.{BucketLayout, HiddenColumns, PartitionBuckets}
import org.apache.spark.sql.connector.catalog.{Column, Table}
import org.apache.spark.sql.types.StructType

/** The facts about a column that the control plane checks. */
case class ColumnSpec(name: String, dataType: String, generated: Boolean = false, identity: Boolean = false) {
  private[colocate] def facts: Map[String, Any] =
    Map("name" -> name, "type" -> dataType, "generated" -> generated, "identity" -> identity)
}

object ColumnSpec {

  def of(schema: StructType): Seq[ColumnSpec] = schema.map(field => ColumnSpec(field.name, field.dataType.simpleString))

  def of(columns: Seq[Column]): Seq[ColumnSpec] = columns.map(column =>
    ColumnSpec(
      column.name,
      column.dataType.simpleString,
      column.generationExpression != null,
      column.identityColumnSpec != null))
}

/**
 * What a statement says about a table. The driver sends it to the control plane's verbs `check_layout`, `begin_create`
 * and `begin_alter`.
 *
 * @param name        database and table, spelled as in the session catalog
 * @param group       value of the property `colocate_with`; empty if the table is in no group, or leaves its group
 * @param keys        names of the bucket keys, in order
 * @param replication value of the property `replication_num` as the user typed it: the number of hosts for each bucket
 * @param location    the folder of the table's files, also if it does not exist yet
 * @param liquid      does the statement ask for liquid clustering?
 * @param replace     may a table of this name exist already?
 * @param bytes       size of the data that the table will get, if known
 * @param partitions  the numbers of buckets of range partitions, where they differ
 * @param ranges      the properties of range partitions, if the table has them
 */
case class TableSpec(
    name: TableIdentifier,
    group: String,
    format: String,
    columns: Seq[ColumnSpec],
    keys: Seq[String],
    buckets: Int,
    replication: Option[String],
    location: Option[String],
    liquid: Boolean = false,
    replace: Boolean = false,
    bytes: Option[Long] = None,
    partitions: Option[PartitionBuckets] = None,
    ranges: Map[String, String] = Map.empty) {

  /** The same as arguments of the control plane's verbs. */
  def facts: Seq[(String, Any)] = TableSpec.named(name) ++ Seq(
    "group" -> group,
    "format" -> format,
    "keys" -> keys.map(key => columns.find(_.name == key).getOrElse(ColumnSpec(key, "")).facts),
    "buckets" -> buckets,
    "columns" -> columns.map(_.facts),
    "replication" -> replication.orNull,
    "location" -> location.orNull,
    "liquid" -> liquid,
    "replace" -> replace,
    "bytes" -> bytes.map(Long.box).orNull,
    "partition_buckets" -> partitions.fold(Map.empty[String, Int])(_.others),
    "by" -> ranges.get(RangeProperties.Columns).orNull,
    "partitions" -> ranges.get(RangeProperties.Partitions).orNull)
}

object TableSpec {

  /** A table by its name alone, as arguments of the control plane's verbs. */
  def named(name: TableIdentifier): Seq[(String, Any)] = Seq("db" -> name.database.get, "table" -> name.table)

  /** A Delta table that is there, with the properties and the location that a statement gives it. */
  def ofDelta(
      name: TableIdentifier,
      table: Table,
      layout: Option[BucketLayout],
      properties: Map[String, String],
      location: Option[String]): TableSpec = TableSpec(
    name,
    GroupProperties.group(properties).getOrElse(""),
    "delta",
    ColumnSpec.of(HiddenColumns.visible(table.columns().toSeq)),
    layout.toSeq.flatMap(_.keys),
    layout.fold(0)(_.declared),
    GroupProperties.replication(properties),
    location,
    partitions = layout.flatMap(_.partitions),
    ranges = RangeProperties.only(properties))
}
