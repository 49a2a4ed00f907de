package org.apache.spark.sql.colocate.catalog

import java.util.Locale

import org.apache.spark.sql.catalyst.catalog.{CatalogTable, CatalogTableType, CatalogUtils}
import org.apache.spark.sql.catalyst.util.CharVarcharUtils
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.types.StructType

/** What the control plane is told of a native table, read off its catalog entry. */
object NativeTable {

  private val Formats = Set("parquet", "orc")

  def isMember(table: CatalogTable): Boolean =
    table.tableType != CatalogTableType.VIEW && GroupProperties.group(table.properties).isDefined

  def isNative(table: CatalogTable): Boolean =
    table.provider.exists(provider => Formats.contains(provider.toLowerCase(Locale.ROOT)))

  /** Does a CREATE statement name a group, as a property or (DataFrame writers, OPTIONS) as an option? */
  def asksForGroup(table: CatalogTable): Boolean =
    GroupProperties.group(table.properties ++ table.storage.properties).isDefined

  /** Database and table as the session catalog spells them. */
  def name(session: SparkSession, table: CatalogTable): Seq[(String, Any)] = {
    val ident = session.sessionState.catalog.qualifyIdentifier(table.identifier)
    Seq("db" -> ident.database.get, "table" -> ident.table)
  }

  /**
   * @param schema the table's columns; those of the query for CREATE TABLE AS SELECT
   * @param group  the property's text; empty when the table leaves its group
   */
  def facts(session: SparkSession, table: CatalogTable, schema: StructType, group: String): Seq[(String, Any)] =
    name(session, table) ++ layout(table, schema) ++ Seq(
      "group" -> group,
      "replication" -> GroupProperties.replication(table.properties).orNull,
      "location" -> location(session, table).orNull)

  /** Format, keys in order, bucket count and columns: what `check_layout` judges without a store. */
  def layout(table: CatalogTable, schema: StructType): Seq[(String, Any)] = {
    val columns = CharVarcharUtils.getRawSchema(schema).map(f => Map("name" -> f.name, "type" -> f.dataType.simpleString))
    val keys = table.bucketSpec.map(_.bucketColumnNames).getOrElse(Nil)
    Seq(
      "format" -> table.provider.getOrElse("").toLowerCase(Locale.ROOT),
      "keys" -> keys.map(key => columns.find(_("name") == key).getOrElse(Map("name" -> key, "type" -> ""))),
      "buckets" -> table.bucketSpec.map(_.numBuckets).getOrElse(0),
      "columns" -> columns)
  }

  /** Where the files lie, or will lie: a managed table has no location before it is made. */
  def location(session: SparkSession, table: CatalogTable): Option[String] = {
    val uri = table.storage.locationUri.getOrElse(session.sessionState.catalog.defaultTablePath(table.identifier))
    Some(CatalogUtils.URIToString(uri))
  }
}
