package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** The calls of a table catalog that Spark 4.1 does not know, handed on to another catalog. */
trait NewestTableCalls extends TableCatalog {

  protected def tables: TableCatalog

  override def loadChangelog(
      ident: Identifier, context: ChangelogContext, options: CaseInsensitiveStringMap): Changelog =
    tables.loadChangelog(ident, context, options)

  override def createTableLike(ident: Identifier, info: TableInfo, source: Table): Table =
    tables.createTableLike(ident, info, source)
}
