package org.apache.spark.sql.colocate.catalog

import java.util

import scala.annotation.nowarn

import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.types.StructType

/** The forms of CREATE without a TableInfo, handed on as they are: another Spark than the jar's may lack it. */
@nowarn("cat=deprecation")
private[catalog] class OlderCreates(inner: CatalogPlugin) {

  private type Properties = util.Map[String, String]

  private def tables: TableCatalog = inner.asInstanceOf[TableCatalog]

  def create(ident: Identifier, schema: StructType, partitions: Array[Transform], properties: Properties): Table =
    tables.createTable(ident, schema, partitions, properties)

  def create(ident: Identifier, columns: Array[Column], partitions: Array[Transform], properties: Properties): Table =
    tables.createTable(ident, columns, partitions, properties)

  def stageCreate(
      ident: Identifier, columns: Array[Column], partitions: Array[Transform], properties: Properties): StagedTable =
    staged(_.stageCreate(ident, columns, partitions, properties))(create(ident, columns, partitions, properties))

  def stageReplace(
      ident: Identifier, columns: Array[Column], partitions: Array[Transform], properties: Properties): StagedTable =
    staged(_.stageReplace(ident, columns, partitions, properties))(anew(ident, columns, partitions, properties))

  def stageCreateOrReplace(
      ident: Identifier, columns: Array[Column], partitions: Array[Transform], properties: Properties): StagedTable =
    staged(_.stageCreateOrReplace(ident, columns, partitions, properties))(
      anew(ident, columns, partitions, properties))

  private def anew(
      ident: Identifier, columns: Array[Column], partitions: Array[Transform], properties: Properties): Table = {
    tables.dropTable(ident)
    create(ident, columns, partitions, properties)
  }

  /** A catalog that can't stage creates at once; null says so to Spark, see DelegatingCatalog. */
  private def staged(stage: StagingTableCatalog => StagedTable)(create: => Table): StagedTable = inner match {
    case staging: StagingTableCatalog => stage(staging)
    case _ => create; null
  }
}
