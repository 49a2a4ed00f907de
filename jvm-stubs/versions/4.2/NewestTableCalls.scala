package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.colocate.compat.TableInfos.TableInfo
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** The calls of a table catalog that Spark has since 4.2, handed on to another catalog. */
trait NewestTableCalls extends TableCatalog {

  protected def tables: TableCatalog

  override def loadChangelog(
      ident: Identifier, context: ChangelogContext, options: CaseInsensitiveStringMap): Changelog =
    tables.loadChangelog(ident, context, options)

  override def createTableLike(ident: Identifier, info: TableInfo, source: Table): Table =
    tables.createTableLike(ident, info, source)
}
