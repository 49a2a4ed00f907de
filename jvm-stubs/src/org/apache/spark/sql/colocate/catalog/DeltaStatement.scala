package org.apache.spark.sql.colocate.catalog

import java.util.{HashMap => JHashMap, Map => JMap}
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.CatalogUtils
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.compat.TableInfos
import org.apache.spark.sql.colocate.compat.TableInfos.TableInfo
import org.apache.spark.sql.colocate.declared.{
  ColumnSpec, DeclaredRanges, DeltaLayout, GroupProperties, KeyProperties, RangeProperties, RowModels, TableName,
  TableSpec
}
import org.apache.spark.sql.connector.catalog.{Identifier, TableCatalog}

/** A CREATE, or a variant of it, of a Delta table: its layout, and the facts that the control plane checks. */
class DeltaStatement(session: SparkSession, val ident: Identifier, typed: TableInfo) {

  private val conf = session.sessionState.conf

  val layout: Option[DeltaLayout] = DeltaLayout.of(typed, conf)

  val properties: Map[String, String] = typed.properties().asScala.toMap

  val group: Option[String] = GroupProperties.group(properties)

  def isByPath: Boolean = TableName.isPath(ident)

  /** The range partitions, checked by the control plane. */
  lazy val ranges: Option[DeclaredRanges] = RangeProperties.declared(
    session, TableName.of(session, ident), columns, layout, properties)

  /** The properties of the key model, checked by the control plane. */
  lazy val keyModel: Map[String, String] = {
    val partitions = DeltaLayout.partitionColumns(typed.partitions().toSeq)
    RowModels().checked(
      session, TableName.of(session, ident), columns, layout.toSeq.flatMap(_.keys),
      partitions ++ ranges.toSeq.flatMap(_.columns), properties, always = layout.isDefined)
  }

  /** The layout with the model. */
  lazy val declared: Option[DeltaLayout] = layout.map(_.copy(model = keyModel))

  private def columns: Seq[ColumnSpec] = ColumnSpec.of(typed.columns().toSeq)

  /** The statement as Delta's own catalog takes it. `ofLayout`: properties that a table with buckets has besides. */
  def forDelta(ofLayout: => Map[String, String]): TableInfo = {
    val ranged = RangeProperties.without(properties) ++ ranges.fold(Map.empty[String, String])(_.properties)
    val keyed = KeyProperties.replaced(ranged, keyModel)
    val all = GroupProperties.normal(keyed) ++ layout.fold(Map.empty[String, String])(_ => ofLayout)
    val normal = new JHashMap[String, String](all.asJava)
    val plain = TableInfos.rebuilt(typed, typed.columns(), typed.partitions(), normal: JMap[String, String])
    if (layout.isEmpty && ranges.isEmpty) plain else DeltaLayout.applied(plain, declared, ranges)
  }

  def facts(group: String, replace: Boolean): Seq[(String, Any)] = TableSpec(
    TableName.of(session, ident),
    group,
    "delta",
    columns,
    layout.toSeq.flatMap(_.keys),
    layout.fold(0)(_.buckets),
    GroupProperties.replication(properties),
    location,
    liquid = typed.partitions().exists(t => DeltaStatement.liquid.contains(t.name)),
    replace = replace).facts

  /** Where the files will be. A table that is replaced keeps its location unless the statement names one. */
  def location: Option[String] =
    Option(typed.properties().get(TableCatalog.PROP_LOCATION)).orElse(
      if (isByPath) Some(ident.name())
      else Some(DeltaStatement.defaultLocation(session, ident)))

  /** A group belongs to a database, so its tables have a name in one. */
  def refusePathInGroup(): Unit = group.filter(_ => isByPath).foreach(DeltaStatement.refusePath(ident.name(), _))
}

object DeltaStatement {

  /** CLUSTER BY in Spark's parser and in Delta's. */
  private val liquid = Set("cluster_by", "temp_cluster_by")

  def refusePath(path: String, group: String): Nothing =
    throw new ColocateException("PATH_IN_GROUP",
      s"Cannot colocate delta.`$path` with group $group: a table that has only a path belongs to no " +
        s"database. Give it a name: CREATE TABLE db.t (...) USING delta CLUSTERED BY (...) INTO n BUCKETS " +
        s"LOCATION '$path' TBLPROPERTIES ('colocate_with'='$group').")

  /** Where the files of a managed table of this name will be. */
  def defaultLocation(session: SparkSession, ident: Identifier): String =
    CatalogUtils.URIToString(session.sessionState.catalog.defaultTablePath(
      TableIdentifier(ident.name(), ident.namespace().lastOption)))
}
