package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.colocate.compat.TableInfos.TableInfo
import org.apache.spark.sql.connector.catalog._

/**
 * The calls of a catalog that Spark has since 4.1. In 4.0 nobody but our own code calls them: Spark calls the
 * older forms of CREATE, which lead to these.
 */
trait NewestCalls extends StagingTableCatalog with ProcedureCatalog with NewestTableCalls {

  def createTable(ident: Identifier, info: TableInfo): Table
  def stageCreate(ident: Identifier, info: TableInfo): StagedTable
  def stageReplace(ident: Identifier, info: TableInfo): StagedTable
  def stageCreateOrReplace(ident: Identifier, info: TableInfo): StagedTable

  def listProcedures(namespace: Array[String]): Array[Identifier] = Array.empty
}
