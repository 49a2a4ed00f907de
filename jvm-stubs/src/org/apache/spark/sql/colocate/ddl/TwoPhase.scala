package org.apache.spark.sql.colocate.ddl

import org.apache.spark.internal.Logging
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.{ColocateException, Json}
import org.apache.spark.sql.colocate.Json.formats
import org.apache.spark.sql.colocate.bridge.ControlPlane

/**
 * One DDL statement in two phases: the control plane checks and reserves, the catalog does the work, the control plane
 * is told the outcome. If the work fails, or this driver dies, the reservation is undone: no group stays without a table.
 */
object TwoPhase extends Logging {

  /**
   * @param verb     `begin_create`, `begin_alter`, `begin_drop` or `begin_rename`, with its arguments
   * @param location asked after the work: where the table's files lie now
   */
  def apply[T](session: SparkSession, verb: String, args: (String, Any)*)(work: => T)(location: => Option[String]): T = {
    CatalogWatch.attach(session)
    val begun = ControlPlane.call(session, verb, args: _*)
    val ticket = (begun \ "ticket").values
    (begun \ "notes").extractOpt[Seq[String]].getOrElse(Nil).foreach(note => logWarning(note))
    var done = false
    try {
      val result = CatalogWatch.quietly(tables(args.toMap))(work)
      done = true
      finish(session, ticket, "commit", location)
      result
    } finally if (!done) finish(session, ticket, "abort", None)
  }

  private def tables(args: Map[String, Any]): Seq[(String, String)] =
    Seq("db" -> "table", "new_db" -> "new_table").collect {
      case (db, table) if args.contains(db) && args.contains(table) => args(db).toString -> args(table).toString
    }

  /**
   * The outcome is already a fact of the catalog, so a control plane that is gone by now must not turn a table that was
   * made into an error, nor hide the error of the work. Its reservation has a lease, and reconcile reads the catalog.
   */
  private def finish(session: SparkSession, ticket: Any, outcome: String, location: Option[String]): Unit =
    try ControlPlane.call(session, "finish", "ticket" -> ticket, "outcome" -> outcome, "location" -> location.orNull)
    catch {
      case e: ColocateException =>
        logWarning(s"The control plane did not hear the outcome ($outcome) of ticket ${Json.write(Map("id" -> ticket))}; " +
          s"the next statement on the group heals it. ${e.getMessage}")
    }
}
