package org.apache.spark.sql.colocate.ops.jobs

import java.security.MessageDigest

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, CatalogTableType}
import org.apache.spark.sql.catalyst.util.CharVarcharUtils
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.Json
import org.apache.spark.sql.colocate.bridge.LiveHosts
import org.apache.spark.sql.colocate.compat.delta.{DeltaSnapshot, LayoutChanges}
import org.apache.spark.sql.colocate.compat.hooks.{DeltaHooks, SelfCheck}
import org.apache.spark.sql.colocate.declared.{ColumnSpec, DeltaLayout, GroupProperties, RangeProperties}
import org.apache.spark.sql.colocate.layout.BucketColumn
import org.apache.spark.sql.colocate.write.RowGroupSize
import org.apache.spark.sql.connector.catalog.CatalogV2Implicits._
import org.apache.spark.sql.connector.catalog.TableCatalog
import org.apache.spark.sql.types.{DataType, MetadataBuilder, StructField, StructType}
import org.json4s.JValue

/** What the control plane needs to know of a table before it is adopted. It reads metadata alone. */
private[jobs] object AdoptFacts extends JobTask {

  override def run(session: SparkSession, table: JobTable, args: JValue): Any = {
    val catalog = session.sessionState.catalog
    val name = TableIdentifier(table.table, Some(table.db))
    if (!catalog.databaseExists(table.db) || !catalog.tableExists(name)) Map("sort" -> "absent")
    else {
      val entry = catalog.getTableMetadata(name)
      named(entry) ++ LiveHosts.of(session).toMap ++ ofEntry(session, table, entry)
    }
  }

  private def named(entry: CatalogTable): Map[String, Any] =
    Map("db" -> entry.identifier.database.get, "table" -> entry.identifier.table)

  private def ofEntry(session: SparkSession, table: JobTable, entry: CatalogTable): Map[String, Any] =
    if (entry.tableType == CatalogTableType.VIEW) Map("sort" -> "view")
    else if (!DeltaLayout.isDelta(entry.provider, session.sessionState.conf))
      Map("sort" -> "table", "format" -> entry.provider.getOrElse("hive"))
    else ofDelta(session, table)

  private def ofDelta(session: SparkSession, table: JobTable): Map[String, Any] = {
    SelfCheck.require(table.quoted, DeltaHooks.Adopt)
    session.catalog.refreshTable(table.quoted)
    val change = LayoutChanges.on(table.load(session), folder = "")
    val (snapshot, files) = (change.snapshot, change.files)
    val shape = AdoptedShape(snapshot)
    Map(
      "sort" -> "table",
      "format" -> "delta",
      "shape" -> shape.digest,
      "columns" -> shape.columns.map(_.facts),
      "widened" -> snapshot.schema.filter(_.metadata.contains("delta.typeChanges")).map(_.name),
      "partitioned_by" -> snapshot.partitionSchema.fieldNames.toSeq,
      "partitions" -> files.map(_.partitionValues).distinct.size,
      "ranges" -> RangeProperties.mentions(snapshot.properties.keys),
      "features" -> LayoutChanges.featuresOf(snapshot).toSeq.sorted,
      "keys" -> BucketColumn.layoutOf(session, snapshot.schema).toSeq.flatMap(_.keys),
      "buckets" -> BucketColumn.layoutOf(session, snapshot.schema).fold(0)(_.buckets),
      "group" -> GroupProperties.group(snapshot.properties).getOrElse(""),
      "replication" -> GroupProperties.replication(snapshot.properties).orNull,
      "properties" -> snapshot.properties.filter(_._1.startsWith("delta.")),
      "row_groups" -> RowGroupSize(session, catalogOf(session)).ofNew(snapshot.properties),
      "location" -> table.root(session).toString,
      "files" -> files.size,
      "bytes" -> files.map(_.bytes).sum)
  }

  private def catalogOf(session: SparkSession): TableCatalog =
    session.sessionState.catalogManager.v2SessionCatalog.asTableCatalog
}

/** What must stay as it is while a table is adopted, because files that are written already depend on it. */
private[jobs] case class AdoptedShape(snapshot: DeltaSnapshot) {

  private val identities = LayoutChanges.identitiesOf(snapshot.schema)

  /** Types as they were declared: CHAR and VARCHAR included, which Delta keeps in the columns' metadata. */
  def columns: Seq[ColumnSpec] = snapshot.schema.map { field =>
    val declared: DataType = CharVarcharUtils.getRawType(field.metadata).getOrElse(field.dataType)
    ColumnSpec(
      field.name, declared.simpleString, BucketColumn.generation(field).isDefined, identities(field.name))
  }

  /** Of the table's id, its columns and partition columns, and the settings by which Delta names and numbers them. */
  def digest: String = {
    val settings = snapshot.properties.filter(p => AdoptedShape.Settings.exists(p._1.startsWith)).toSeq.sorted
    val texts = Seq(snapshot.tableId, plain(snapshot.schema).json, snapshot.partitionSchema.fieldNames.mkString(","))
    val bytes = Json.write(texts ++ settings.map { case (key, value) => s"$key=$value" }).getBytes("UTF-8")
    MessageDigest.getInstance("SHA-256").digest(bytes).take(8).map(b => f"$b%02x").mkString
  }

  /** Comments, defaults and the counters of identity columns may change: no file depends on them. */
  private def plain(schema: StructType): StructType = StructType(schema.map { field =>
    val kept = AdoptedShape.Free.foldLeft(new MetadataBuilder().withMetadata(field.metadata))(_ remove _)
    StructField(field.name, field.dataType, field.nullable, kept.build())
  })
}

private[jobs] object AdoptedShape {
  private val Settings = Seq("delta.columnMapping.mode", "delta.enableRowTracking", "delta.rowTracking.")
  private val Free =
    Seq("comment", "CURRENT_DEFAULT", "EXISTS_DEFAULT", "delta.identity.highWaterMark")
}
