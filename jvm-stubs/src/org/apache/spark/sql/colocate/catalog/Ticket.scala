package org.apache.spark.sql.colocate.catalog

import org.apache.spark.internal.Logging
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.Json.formats
import org.apache.spark.sql.colocate.bridge.ControlPlane

/**
 * The reservation of one DDL statement in the registry: begun before the catalog works, then committed or aborted,
 * once.
 */
trait Ticket {

  /**
   * Just before the catalog makes the table: throws if the reservation has ended and the table does not fit its group
   * any more.
   */
  def hold(): Unit
  def commit(location: => Option[String]): Unit
  def abort(): Unit
}

object Ticket extends Logging {

  /** For a statement that the registry need not know. */
  object NotNeeded extends Ticket {
    override def hold(): Unit = ()
    override def commit(location: => Option[String]): Unit = ()
    override def abort(): Unit = ()
  }

  /** Checks and reserves; throws the control plane's error, in which case nothing has been changed. */
  def begin(session: SparkSession, verb: String, args: (String, Any)*): Ticket = {
    CatalogWatch.attach(session)
    val begun = ControlPlane.call(session, verb, args: _*)
    (begun \ "notes").extractOpt[Seq[String]].getOrElse(Nil).foreach(note => logWarning(note))
    new Reserved(session, (begun \ "ticket").extract[String], tables(args.toMap))
  }

  /** The lease of a reservation is longer than this, so it can't have ended. */
  private val SureNanos = 20L * 1000 * 1000 * 1000

  private def tables(args: Map[String, Any]): Seq[(String, String)] =
    Seq("db" -> "table", "new_db" -> "new_table").collect {
      case (db, table) if args.contains(db) && args.contains(table) => args(db).toString -> args(table).toString
    }

  private class Reserved(session: SparkSession, ticket: String, names: Seq[(String, String)]) extends Ticket {
    private val silenced = CatalogWatch.silence(names)
    private val begun = System.nanoTime()
    private var open = true

    override def hold(): Unit =
      if (System.nanoTime() - begun > SureNanos) ControlPlane.hold(session, ticket)

    override def commit(location: => Option[String]): Unit = finish("commit", location)
    override def abort(): Unit = finish("abort", None)

    private def finish(outcome: String, location: => Option[String]): Unit = if (open) {
      open = false
      CatalogWatch.listen(silenced)
      ControlPlane.finish(session, ticket, outcome, location)(() => SettleTables(session, names))
    }
  }
}
