package org.apache.spark.sql.colocate.catalog

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.compat.TableInfos.TableInfo
import org.apache.spark.sql.colocate.declared.{
  GroupProperties, KeyProperties, RangeProperties, ReservedProperties, RowModels, TableName, TableSpec
}
import org.apache.spark.sql.colocate.evidence.delta.DeltaTables
import org.apache.spark.sql.connector.catalog.{Identifier, Table, TableCatalog}

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
      TableSpec.ofDelta(TableName.of(session, ident), source, layout, all, Some(where))
    }
  }

  /** The copy has the schema of the source, which declares its partitions and key model, whatever properties say. */
  def refuseOthers(session: SparkSession, ident: Identifier, info: TableInfo, source: Table): Unit = {
    val shown = TableName.shown(session, ident)
    val typed = info.properties().asScala.toMap
    if (DeltaTables.hidesColumns(session, source)) {
      ReservedProperties.refuseInCreate(shown, typed)
      typed.keys.foreach(refuseDeclared(shown, _))
    }
  }

  /** Fails for a property that the source's schema decides. */
  private[catalog] def refuseDeclared(table: String, key: String): Unit =
    if (RangeProperties.isOne(key)) RangeProperties.refuseAlter(table, key)
    else if (KeyProperties.isProperty(key)) RowModels().refuseInCopy(table, key)

  /** `colocate_with = ''` makes a copy in no group. */
  private def emptied(typed: Map[String, String]): Map[String, String] =
    GroupProperties.value(typed, GroupProperties.Group).filter(_.trim.isEmpty).map(GroupProperties.Group -> _).toMap
}
