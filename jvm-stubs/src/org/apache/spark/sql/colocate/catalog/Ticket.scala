package org.apache.spark.sql.colocate.catalog

import org.apache.spark.internal.Logging
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.bridge.ControlPlane
import org.apache.spark.sql.colocate.conf.Json
import org.apache.spark.sql.colocate.conf.Json.formats

/**
 * The reservation of one DDL statement in the registry: begun before the catalog works, then committed or aborted,
 * once.
 */
trait Ticket {
  def commit(location: => Option[String]): Unit
  def abort(): Unit
}

object Ticket extends Logging {

  /** For a statement that the registry need not know. */
  object Nothing extends Ticket {
    override def commit(location: => Option[String]): Unit = ()
    override def abort(): Unit = ()
  }

  /** Checks and reserves; throws the control plane's error, in which case nothing has been changed. */
  def begin(session: SparkSession, verb: String, args: (String, Any)*): Ticket = {
    CatalogWatch.attach(session)
    val begun = ControlPlane.call(session, verb, args: _*)
    (begun \ "notes").extractOpt[Seq[String]].getOrElse(Nil).foreach(note => logWarning(note))
    new Reserved(session, (begun \ "ticket").values, CatalogWatch.silence(tables(args.toMap)))
  }

  private def tables(args: Map[String, Any]): Seq[(String, String)] =
    Seq("db" -> "table", "new_db" -> "new_table").collect {
      case (db, table) if args.contains(db) && args.contains(table) => args(db).toString -> args(table).toString
    }

  private class Reserved(session: SparkSession, ticket: Any, silenced: Seq[(String, String)]) extends Ticket {
    private var open = true

    override def commit(location: => Option[String]): Unit = finish("commit", location)
    override def abort(): Unit = finish("abort", None)

    /**
     * The catalog has done its work, so a control plane that is not available any more must neither turn a created
     * table into an error nor hide the error of the work. The lease of its reservation ends, and `system.reconcile`
     * reads the catalog.
     */
    private def finish(outcome: String, location: => Option[String]): Unit = if (open) {
      open = false
      CatalogWatch.listen(silenced)
      try ControlPlane.call(session, "finish", "ticket" -> ticket, "outcome" -> outcome, "location" -> location.orNull)
      catch {
        case e: ColocateException =>
          val id = Json.write(Map("id" -> ticket))
          logWarning(s"The control plane did not hear the outcome ($outcome) of ticket $id; the next statement on " +
            s"the group heals it. ${e.getMessage}")
      }
    }
  }
}
