package org.apache.spark.sql.colocate.catalog

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.declared.{DeltaLayout, GroupProperties, RowModels, TableName, TableSpec}
import org.apache.spark.sql.colocate.evidence.delta.DeltaTables
import org.apache.spark.sql.colocate.layout.{BucketLayout, HiddenColumns}
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.types.StructType

/**
 * An existing Delta table with hidden columns that gets a name in the catalog, by CREATE TABLE ... LOCATION or SET
 * LOCATION. Its own log decides its columns, buckets, partitions, key model and group.
 */
class HeldFolder(session: SparkSession, val location: String, table: Table) {

  val layout: Option[BucketLayout] = DeltaTables.layoutOf(session, table)

  val properties: Map[String, String] = table.properties().asScala.toMap

  def group: Option[String] = GroupProperties.group(properties)

  def columns: StructType = HiddenColumns.without(CatalogV2Util.v2ColumnsToStructType(table.columns()))

  def partitions: Seq[String] =
    DeltaLayout.partitionColumns(table.partitioning().toSeq).filterNot(HiddenColumns.contains)

  def ranges: Option[String] = DeltaTables.rangesOf(table)

  def model: Map[String, String] = RowModels().declaration(table)

  def spec(ident: Identifier): TableSpec =
    TableSpec.ofDelta(TableName.of(session, ident), table, layout, properties, Some(location))

  /** For messages. */
  def buckets: String = layout.fold("no buckets")(l => HeldFolder.clause(l.keys, l.declared))
}

object HeldFolder {

  def clause(keys: Seq[String], buckets: Int): String = s"CLUSTERED BY (${keys.mkString(", ")}) INTO $buckets BUCKETS"

  /** None if there is no Delta table, or one without hidden columns. */
  def at(session: SparkSession, location: String): Option[HeldFolder] =
    deltaAt(session, location).filter(DeltaTables.hidesColumns(session, _)).map(new HeldFolder(session, location, _))

  def deltaAt(session: SparkSession, location: String): Option[Table] = {
    val path = new Path(location)
    val files = path.getFileSystem(session.sessionState.newHadoopConf())
    val log = Try(files.exists(new Path(path, "_delta_log"))).getOrElse(false)
    val ident = Identifier.of(Array("delta"), files.makeQualified(path).toString)
    if (log) CatalogV2Util.loadTable(session.sessionState.catalogManager.v2SessionCatalog, ident) else None
  }

  def refuse(what: String, location: String, why: String, cure: String): Nothing =
    throw new ColocateException("FOLDER_DIFFERS",
      s"Cannot $what: the Delta table in $location is another one than the statement says. $why. $cure.")
}
