package org.apache.spark.sql.colocate.catalog.describe

import scala.util.Try

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.evidence.delta.DeltaIndexes

/** The doctor's finding on a table that queries can't read. */
private[colocate] object Unreadable {

  private val Longest = 500
  private val Versions = 20

  /** The error's first line. */
  def why(error: Throwable): String =
    Option(error.getMessage).getOrElse(error.toString).linesIterator.nextOption().getOrElse("").take(Longest)

  /** Raises what a query would raise when it is planned. No file is read. */
  def plan(session: SparkSession, table: BucketedTable): Unit = planned(session, table.spec.name.quotedString)

  /** The newest earlier version of a Delta table that a query can be planned on; none if that is long ago. */
  def lastReadable(session: SparkSession, table: BucketedTable): Option[Long] = table.delta.flatMap { delta =>
    val newest = DeltaIndexes.snapshotOfTable(delta).version
    (newest - 1 to math.max(0L, newest - Versions) by -1L).find { version =>
      Try(planned(session, s"${table.spec.name.quotedString} VERSION AS OF $version")).isSuccess
    }
  }

  private def planned(session: SparkSession, source: String): Unit =
    session.sql(s"SELECT * FROM $source").queryExecution.optimizedPlan
}
