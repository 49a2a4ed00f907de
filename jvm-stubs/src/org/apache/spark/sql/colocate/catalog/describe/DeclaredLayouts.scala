package org.apache.spark.sql.colocate.catalog.describe

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.spark.sql.catalyst.catalog.{BucketSpec, CatalogTable, CatalogTableType, CatalogUtils}
import org.apache.spark.sql.catalyst.util.CharVarcharUtils
import org.apache.spark.sql.colocate.declared.{KeyProperties, ReservedProperties, RowModels}
import org.apache.spark.sql.colocate.evidence.delta.DeltaIndexes
import org.apache.spark.sql.colocate.layout.{BucketLayout, HiddenColumns}
import org.apache.spark.sql.connector.catalog.{CatalogV2Util, Table, TableCatalog}

/** The declaration of a table, from its metadata. */
object DeclaredLayouts {

  // Properties that Delta derives from the rest of the statement, or maintains itself.
  private val derived =
    Set("delta.minReaderVersion", "delta.minWriterVersion", "delta.columnMapping.maxColumnId") ++
      Seq("appendOnly", "invariants", "generatedColumns", "identityColumns").map("delta.feature." + _)
  private val derivedPrefixes = Seq("delta.rowTracking.materialized", TableCatalog.OPTION_PREFIX)

  def ofDelta(name: String, table: Table, layout: Option[BucketLayout]): DeclaredLayout = {
    val snapshot = DeltaIndexes.snapshotOfTable(table)
    val properties = table.properties().asScala.toMap
    DeclaredLayout(
      name = name,
      format = "delta",
      columns = CharVarcharUtils.getRawSchema(HiddenColumns.without(snapshot.schema)).fields.toSeq,
      partitions = snapshot.partitionSchema.fieldNames.toSeq.filterNot(HiddenColumns.contains),
      buckets = layout.map(l => BucketSpec(l.declared, l.keys, Nil)),
      comment = properties.get(TableCatalog.PROP_COMMENT),
      location = properties.get(TableCatalog.PROP_LOCATION)
        .filterNot(_ => properties.contains(TableCatalog.PROP_IS_MANAGED_LOCATION)),
      options = Map.empty,
      properties = declared(table, layout, properties).filterNot { case (key, _) =>
        CatalogV2Util.TABLE_RESERVED_PROPERTIES.contains(key) || derived(key) || derivedPrefixes.exists(key.startsWith)
      })
  }

  /** As CREATE takes them: what a session without the extension has set says nothing of the rows. */
  private def declared(
      table: Table, layout: Option[BucketLayout], properties: Map[String, String]): Map[String, String] = {
    val own = properties.filterNot { case (key, _) => ReservedProperties.of(key).exists(_.create == "refused") }
    val model = Try(RowModels().declaration(table)).toOption.filter(_ => layout.isDefined)
    model.filterNot(KeyProperties.isOrderOnly).fold(own) { keys =>
      own.filterNot { case (key, _) => KeyProperties.isProperty(key) } ++ keys
    }
  }

  def ofNative(table: CatalogTable): Option[DeclaredLayout] = table.bucketSpec.map { spec =>
    DeclaredLayout(
      name = table.qualifiedName,
      format = table.provider.getOrElse("parquet"),
      columns = CharVarcharUtils.getRawSchema(table.schema).fields.toSeq,
      partitions = table.partitionColumnNames,
      buckets = Some(spec),
      comment = table.comment,
      location =
        if (table.tableType == CatalogTableType.MANAGED) None
        else table.storage.locationUri.map(CatalogUtils.URIToString),
      options = table.storage.properties,
      properties = table.properties -- CatalogV2Util.TABLE_RESERVED_PROPERTIES)
  }
}
