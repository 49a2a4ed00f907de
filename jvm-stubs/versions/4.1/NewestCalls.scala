package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.connector.catalog._

/** The calls of a catalog that Spark has since 4.1 or 4.2, handed on to another catalog. */
trait NewestCalls extends StagingTableCatalog with ProcedureCatalog {

  protected def tables: TableCatalog

  override def listTableSummaries(namespace: Array[String]): Array[TableSummary] = tables.listTableSummaries(namespace)

  override def listProcedures(namespace: Array[String]): Array[Identifier] = tables match {
    case procedures: ProcedureCatalog => procedures.listProcedures(namespace)
    case _ => Array.empty
  }

  /** Never called: before Spark 4.2, CREATE TABLE LIKE is a command that asks no catalog. */
  def createTableLike(ident: Identifier, info: TableInfo, source: Table): Table =
    throw new UnsupportedOperationException(s"CREATE TABLE $ident LIKE ${source.name} by a catalog")
}
