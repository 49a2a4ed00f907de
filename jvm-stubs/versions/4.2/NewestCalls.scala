package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** The calls of a catalog that Spark has since 4.1 or 4.2, handed on to another catalog. */
trait NewestCalls extends StagingTableCatalog with ProcedureCatalog {

  protected def tables: TableCatalog

  override def listTableSummaries(namespace: Array[String]): Array[TableSummary] = tables.listTableSummaries(namespace)

  override def listProcedures(namespace: Array[String]): Array[Identifier] = tables match {
    case procedures: ProcedureCatalog => procedures.listProcedures(namespace)
    case _ => Array.empty
  }

  override def loadChangelog(
      ident: Identifier, context: ChangelogContext, options: CaseInsensitiveStringMap): Changelog =
    tables.loadChangelog(ident, context, options)

  override def createTableLike(ident: Identifier, info: TableInfo, source: Table): Table =
    tables.createTableLike(ident, info, source)
}
