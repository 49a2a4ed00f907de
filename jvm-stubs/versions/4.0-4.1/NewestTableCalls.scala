package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.colocate.compat.TableInfos.TableInfo
import org.apache.spark.sql.connector.catalog._

/** The calls of a table catalog that Spark has since 4.2. */
trait NewestTableCalls extends TableCatalog {

  protected def tables: TableCatalog

  /** Never called: before Spark 4.2, CREATE TABLE LIKE is a command that asks no catalog. */
  def createTableLike(ident: Identifier, info: TableInfo, source: Table): Table =
    throw new UnsupportedOperationException(s"CREATE TABLE $ident LIKE ${source.name} by a catalog")
}
