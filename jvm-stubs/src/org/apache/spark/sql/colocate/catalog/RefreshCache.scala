package org.apache.spark.sql.colocate.catalog

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.classic.SparkSession

/**
 * After a statement that changes a table's files and whose command does not tell Spark's cache: what the cache holds of
 * the table, or of queries on it, is computed anew when it is read next. The statement is done, so an error is logged.
 */
private[catalog] object RefreshCache extends Logging {

  /** @param location the folder of the table */
  def apply(session: SparkSession, location: Option[String]): Unit =
    try location.foreach(session.sharedState.cacheManager.recacheByPath(session, _))
    catch { case NonFatal(e) => logWarning(s"The cache of the table in ${location.mkString} was not refreshed", e) }
}
