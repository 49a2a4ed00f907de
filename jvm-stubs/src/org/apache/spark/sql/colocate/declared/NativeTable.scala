package org.apache.spark.sql.colocate.declared

import java.util.Locale

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, CatalogTableType, CatalogUtils}
import org.apache.spark.sql.catalyst.util.CharVarcharUtils
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.types.StructType

/** What a native table's catalog entry says, for the control plane. */
object NativeTable {

  private val Formats = Set("parquet", "orc")

  def isMember(table: CatalogTable): Boolean =
    table.tableType != CatalogTableType.VIEW && GroupProperties.group(table.properties).isDefined

  def isNative(table: CatalogTable): Boolean =
    table.provider.exists(provider => Formats.contains(provider.toLowerCase(Locale.ROOT)))

  /** Does a CREATE statement name a group, as a property or (DataFrame writers, OPTIONS) as an option? */
  def namesGroup(table: CatalogTable): Boolean =
    GroupProperties.group(table.properties ++ table.storage.properties).isDefined

  /** Database and table as the session catalog spells them. */
  def name(session: SparkSession, table: CatalogTable): TableIdentifier =
    session.sessionState.catalog.qualifyIdentifier(table.identifier)

  /**
   * @param schema the table's columns; those of the query for CREATE TABLE AS SELECT
   * @param group  the property's text; empty when the table leaves its group
   */
  def spec(session: SparkSession, table: CatalogTable, schema: StructType, group: String): TableSpec = TableSpec(
    name(session, table),
    group,
    table.provider.getOrElse("").toLowerCase(Locale.ROOT),
    ColumnSpec.of(CharVarcharUtils.getRawSchema(schema)),
    table.bucketSpec.toSeq.flatMap(_.bucketColumnNames),
    table.bucketSpec.fold(0)(_.numBuckets),
    GroupProperties.replication(table.properties),
    location(session, table))

  /** Where the files are or will be: a managed table has no location before it is created. */
  def location(session: SparkSession, table: CatalogTable): Option[String] = {
    val uri = table.storage.locationUri.getOrElse(session.sessionState.catalog.defaultTablePath(table.identifier))
    Some(CatalogUtils.URIToString(uri))
  }
}
