package org.apache.spark.sql.colocate.catalog

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.Json.formats
import org.apache.spark.sql.colocate.bridge.{ControlPlane, GroupState}
import org.apache.spark.sql.colocate.catalog.describe.DeclaredTables
import org.apache.spark.sql.colocate.declared.TableSpec

/**
 * Brings the registry in line with the catalog for a few tables, after a statement whose outcome only the catalog
 * knows: another driver had a statement on the same table at the same time, or this driver was stopped for so long that
 * its reservation ended.
 */
object SettleTables extends Logging {

  /** @param names database and table */
  def apply(session: SparkSession, names: Seq[(String, String)]): Unit = {
    val version = GroupState.current.version
    val found = names.groupMap(_._1)(_._2).toSeq.map { case (db, tables) =>
      new DeclaredTables(session, db, Some(tables.toSet))
    }
    val answer = ControlPlane.call(session, "settle",
      "names" -> names.map { case (db, table) => TableSpec.named(TableIdentifier(table, Some(db))).toMap },
      "tables" -> found.flatMap(_.members),
      "unread" -> found.flatMap(_.unread),
      "version" -> version)
    (answer \ "changed").children.foreach(change => report((change \ "message").extractOpt[String].getOrElse("")))
  }

  /** A conflict: the table names a group that it does not fit, and is in none. */
  private def report(message: String): Unit =
    if (message.nonEmpty) logWarning(s"$message Until then it is read without its buckets' group.")
}
