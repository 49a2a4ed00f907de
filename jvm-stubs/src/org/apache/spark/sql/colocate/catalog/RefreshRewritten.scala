package org.apache.spark.sql.colocate.catalog

import java.util.{Collections, WeakHashMap}
import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteNameParts
import org.apache.spark.sql.colocate.bridge.GroupState

/**
 * A session keeps the file listing of a native table. After a repair has replaced files, by a job in another session or
 * driver, a query would look for files that are gone: so the session lists them again before its next statement.
 */
object RefreshRewritten extends Logging {

  private val seen = Collections.synchronizedMap(new WeakHashMap[SparkSession, Map[(String, String), Int]])

  /** For each statement; it costs a look-up. What was rewritten before the session's first statement is not listed. */
  def apply(session: SparkSession): Unit = {
    val now = GroupState.current.rewrites
    val before = seen.get(session)
    if (before == null) seen.put(session, now)
    else if (before != now) {
      seen.put(session, now)
      now.foreach { case (table, count) => if (!before.get(table).contains(count)) refresh(session, table) }
    }
  }

  private def refresh(session: SparkSession, table: (String, String)): Unit =
    try session.catalog.refreshTable(quoteNameParts(Seq(table._1, table._2)))
    catch { case NonFatal(e) => logInfo(s"The files of ${table._1}.${table._2} could not be listed again: $e") }
}
