package org.apache.spark.sql.colocate.catalog

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.evidence.delta.DeltaTables
import org.apache.spark.sql.connector.catalog.{Identifier, Table, TableCatalog, TableInfo}

/** CREATE TABLE LIKE that makes a Delta table of a group. */
object DeltaLike {

  private val Delta = "delta"

  /** What the control plane checks, as for any CREATE. None for a copy in no group, or of another format. */
  def of(session: SparkSession, ident: Identifier, info: TableInfo, source: Table): Option[TableSpec] = {
    val typed = info.properties().asScala.toMap
    val all = source.properties().asScala.toMap ++ GroupProperties.normal(typed) ++ emptied(typed)
    val isDelta = typed.get(TableCatalog.PROP_PROVIDER).forall(_.equalsIgnoreCase(Delta)) && DeltaTables.isDelta(source)
    GroupProperties.group(all).filter(_ => isDelta).map { _ =>
      val where = typed.getOrElse(TableCatalog.PROP_LOCATION, DeltaStatement.defaultLocation(session, ident))
      val layout = DeltaTables.layoutOf(session, source)
      TableSpec.ofDelta(DeltaStatement.name(session, ident), source, layout, all, Some(where))
    }
  }

  /** The copy has the expression that computes the source's partitions, whatever its properties say. */
  def refuseOtherRanges(session: SparkSession, ident: Identifier, info: TableInfo, source: Table): Unit =
    info.properties().keySet().asScala.find(RangeProperties.isOne)
      .filter(_ => DeltaTables.rangesOf(source).isDefined)
      .foreach(RangeProperties.refuseAlter(DeltaStatement.shown(session, ident), _))

  /** `colocate_with = ''` makes a copy in no group. */
  private def emptied(typed: Map[String, String]): Map[String, String] =
    GroupProperties.value(typed, GroupProperties.Group).filter(_.trim.isEmpty).map(GroupProperties.Group -> _).toMap
}
