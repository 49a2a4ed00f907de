package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.connector.catalog._

/** The calls of a catalog that Spark has since 4.1, handed on to another catalog. */
trait NewestCalls extends StagingTableCatalog with ProcedureCatalog with NewestTableCalls {

  override def listTableSummaries(namespace: Array[String]): Array[TableSummary] = tables.listTableSummaries(namespace)

  override def listProcedures(namespace: Array[String]): Array[Identifier] = tables match {
    case procedures: ProcedureCatalog => procedures.listProcedures(namespace)
    case _ => Array.empty
  }
}
