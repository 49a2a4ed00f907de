package org.apache.spark.sql.colocate.catalog

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.connector.catalog.{Table, TableCatalog}

/**
 * After a statement that changes a table's files and whose command does not tell Spark's cache: what the cache holds of
 * the table, or of queries on it, is computed anew when it is read next. The statement is done, so an error is logged.
 */
private[colocate] object RefreshCache extends Logging {

  def apply(session: SparkSession, table: Table): Unit =
    try {
      val location = Option(table.properties().get(TableCatalog.PROP_LOCATION))
      location.foreach(session.sharedState.cacheManager.recacheByPath(session, _))
    } catch {
      case NonFatal(e) => logWarning(s"The cache of ${table.name} was not refreshed", e)
    }
}
