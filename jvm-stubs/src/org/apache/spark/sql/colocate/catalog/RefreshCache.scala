package org.apache.spark.sql.colocate.catalog

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.connector.catalog.{Table, TableCatalog}

/**
 * Invalidates cached rows of a table, and of queries on it, after a statement that changes the table's files without
 * telling Spark's cache. The statement has succeeded by then, so an error is only logged.
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
