package org.apache.spark.sql.colocate.compat

import java.util.{Map => JMap}

import org.apache.spark.sql.connector.catalog.{
  Column, Identifier, StagedTable, StagingTableCatalog, Table, TableCatalog
}
import org.apache.spark.sql.connector.expressions.Transform

/** What a CREATE declares of a table. Spark 4.0 has no class for it, and no constraints. */
object TableInfos {

  final class TableInfo(named: Array[Column], by: Array[Transform], held: JMap[String, String]) {
    def columns(): Array[Column] = named
    def partitions(): Array[Transform] = by
    def properties(): JMap[String, String] = held
  }

  def of(columns: Array[Column], partitions: Array[Transform], properties: JMap[String, String]): TableInfo =
    new TableInfo(columns, partitions, properties)

  /** The same statement with other columns, partitions and properties. */
  def rebuilt(
      info: TableInfo, columns: Array[Column], partitions: Array[Transform],
      properties: JMap[String, String]): TableInfo = of(columns, partitions, properties)

  def create(tables: TableCatalog, ident: Identifier, info: TableInfo): Table =
    tables.createTable(ident, info.columns(), info.partitions(), info.properties())

  def stageCreate(tables: StagingTableCatalog, ident: Identifier, info: TableInfo): StagedTable =
    tables.stageCreate(ident, info.columns(), info.partitions(), info.properties())

  def stageReplace(tables: StagingTableCatalog, ident: Identifier, info: TableInfo): StagedTable =
    tables.stageReplace(ident, info.columns(), info.partitions(), info.properties())

  def stageCreateOrReplace(tables: StagingTableCatalog, ident: Identifier, info: TableInfo): StagedTable =
    tables.stageCreateOrReplace(ident, info.columns(), info.partitions(), info.properties())
}
