package org.apache.spark.sql.colocate.compat

import java.util.{Map => JMap}

import org.apache.spark.sql.connector.catalog.{
  Column, Identifier, StagedTable, StagingTableCatalog, Table, TableCatalog, TableInfo => SparkTableInfo
}
import org.apache.spark.sql.connector.expressions.Transform

/** What a CREATE declares of a table, as catalogs take it since Spark 4.1. */
object TableInfos {

  type TableInfo = SparkTableInfo

  def of(columns: Array[Column], partitions: Array[Transform], properties: JMap[String, String]): TableInfo =
    builder(columns, partitions, properties).build()

  /** The same statement with other columns, partitions and properties. */
  def rebuilt(
      info: TableInfo, columns: Array[Column], partitions: Array[Transform],
      properties: JMap[String, String]): TableInfo =
    builder(columns, partitions, properties).withConstraints(info.constraints()).build()

  def create(tables: TableCatalog, ident: Identifier, info: TableInfo): Table = tables.createTable(ident, info)

  def stageCreate(tables: StagingTableCatalog, ident: Identifier, info: TableInfo): StagedTable =
    tables.stageCreate(ident, info)

  def stageReplace(tables: StagingTableCatalog, ident: Identifier, info: TableInfo): StagedTable =
    tables.stageReplace(ident, info)

  def stageCreateOrReplace(tables: StagingTableCatalog, ident: Identifier, info: TableInfo): StagedTable =
    tables.stageCreateOrReplace(ident, info)

  private def builder(columns: Array[Column], partitions: Array[Transform], properties: JMap[String, String]) =
    new SparkTableInfo.Builder().withColumns(columns).withPartitions(partitions).withProperties(properties)
}
