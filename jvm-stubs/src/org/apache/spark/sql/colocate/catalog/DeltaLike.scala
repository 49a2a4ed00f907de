package org.apache.spark.sql.colocate.catalog

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.CatalogUtils
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.columns.BucketColumn
import org.apache.spark.sql.colocate.evidence.delta.DeltaTables
import org.apache.spark.sql.connector.catalog.{Identifier, Table, TableCatalog, TableInfo}

/**
 * CREATE TABLE LIKE that makes a Delta table of a group.
 *
 * @param location where its files will be
 * @param facts    what the control plane checks, as for any CREATE
 */
case class DeltaLike(location: String, facts: Seq[(String, Any)])

object DeltaLike {

  private val Delta = "delta"

  /** None for a copy in no group, or of another format. */
  def of(session: SparkSession, ident: Identifier, info: TableInfo, source: Table): Option[DeltaLike] = {
    val typed = info.properties().asScala.toMap
    val all = source.properties().asScala.toMap ++ GroupProperties.normal(typed) ++ emptied(typed)
    val isDelta = typed.get(TableCatalog.PROP_PROVIDER).forall(_.equalsIgnoreCase(Delta)) && DeltaTables.isDelta(source)
    GroupProperties.group(all).filter(_ => isDelta).map { group =>
      val where = typed.getOrElse(TableCatalog.PROP_LOCATION, defaultPath(session, ident))
      val layout = DeltaTables.layoutOf(session, source)
      val spec = TableSpec(
        DeltaStatement.name(session, ident),
        group,
        Delta,
        ColumnSpec.of(BucketColumn.visible(source.columns().toSeq)),
        layout.toSeq.flatMap(_.keys),
        layout.fold(0)(_.buckets),
        GroupProperties.replication(all),
        Some(where))
      DeltaLike(where, spec.facts)
    }
  }

  /** `colocate_with = ''` makes a copy in no group. */
  private def emptied(typed: Map[String, String]): Map[String, String] =
    GroupProperties.value(typed, GroupProperties.Group).filter(_.trim.isEmpty).map(GroupProperties.Group -> _).toMap

  private def defaultPath(session: SparkSession, ident: Identifier): String =
    CatalogUtils.URIToString(session.sessionState.catalog.defaultTablePath(
      TableIdentifier(ident.name(), ident.namespace().lastOption)))
}
