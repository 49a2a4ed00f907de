package org.apache.spark.sql.colocate.bridge

import java.io.IOException

import org.apache.spark.sql.colocate.Json.formats
import org.apache.spark.sql.colocate.compat.hooks.SecretSettings
import org.apache.spark.sql.colocate.conf.{Exposed, Settings}
import org.apache.spark.sql.colocate.{ColocateException, Json}
import org.apache.spark.sql.{classic, SparkSession}
import org.json4s.JValue
import org.json4s.JsonAST.{JNothing, JNull, JString}
import py4j.{Py4JException, Py4JNetworkException}

/**
 * Calls the control plane: one process for each JVM. The first statement that needs it starts it, and after it has died
 * the next one starts it again. Statements wait for it and fail without it; queries never do.
 */
object ControlPlane {

  /** Numbers that the verbs need, a duration in seconds. */
  private val RequestSettings =
    Seq("spark.colocate.replication", "spark.colocate.recycle.period", "spark.colocate.doctor.minAge",
      "spark.colocate.doctor.verifyAge")

  /** Runs a verb of the service. Applies the fresh snapshot, so the session's next query sees the change. */
  def call(session: SparkSession, verb: String, args: (String, Any)*): JValue = {
    val driver = session.asInstanceOf[classic.SparkSession]
    OpenTickets.reportPending()
    begun(send(driver, verb, args.toMap))
  }

  /**
   * Reports the outcome of a statement. The catalog has done its work, so a control plane that is not available any
   * more must neither turn a created table into an error nor hide the error of the work: then it is reported later.
   *
   * @param settle brings the registry in line with the catalog, where only the catalog knows the outcome
   */
  def finish(session: SparkSession, ticket: String, outcome: String, location: => Option[String])(
      settle: () => Unit): Unit = {
    val driver = session.asInstanceOf[classic.SparkSession]
    val args = Map("ticket" -> ticket, "outcome" -> outcome, "location" -> location.orNull)
    OpenTickets.reportPending()
    OpenTickets.report(ticket, driver)(() => if (!follows(driver, args)) settle())
  }

  /** Just before the catalog makes a table. A registry that can't be asked now stops no statement that has begun. */
  def hold(session: SparkSession, ticket: String): Unit =
    try call(session, "hold", "ticket" -> ticket)
    catch { case e: ColocateException if OpenTickets.isPassing(e) => }

  /** Does the registry have the outcome? Not after an error either, such as a group that has changed meanwhile. */
  private def follows(session: classic.SparkSession, args: Map[String, Any]): Boolean =
    try (send(session, "finish", args) \ "follows").extract[Boolean]
    catch { case e: ColocateException if !OpenTickets.isPassing(e) && args("outcome") == "commit" => false }

  /** During analysis, when a query reads a member: starts the process in the background, before planning needs it. */
  def prepare(session: SparkSession): Unit =
    if (Attachments.living.isEmpty) Attachments.prepare(session.asInstanceOf[classic.SparkSession])

  /**
   * During planning, when a query reads a member: waits once per application, at most the configured time. Never
   * throws.
   */
  def ensureAttached(session: SparkSession): Unit =
    if (Attachments.living.isEmpty) Attachments.tryFor(session.asInstanceOf[classic.SparkSession])

  /** The number of the control plane's process, while it lives; 0 without one. */
  def pid: Long = Attachments.living.fold(0L)(_.pid)

  private def begun(answer: JValue): JValue = {
    answer \ "ticket" match {
      case JString(ticket) => OpenTickets.begun(ticket)
      case _ =>
    }
    answer
  }

  private def send(session: classic.SparkSession, verb: String, args: Map[String, Any]): JValue = {
    val reply = Json.parse(ask(session, verb, Json.write(args + ("context" -> context(session)))))
    reply \ "snapshot" match {
      case JNothing | JNull =>
      case changes => GroupState.update(GroupChanges.of(changes))
    }
    reply \ "error" match {
      case JNothing => reply \ "ok"
      case error =>
        throw new ColocateException((error \ "code").extract[String], (error \ "message").extract[String])
    }
  }

  /** Tries once more if the process dies during the call: every verb may be repeated. */
  private def ask(session: classic.SparkSession, verb: String, request: String): String = {
    val first = Attachments.get(session)
    try first.call(verb, request)
    catch {
      case e: Py4JException if isBroken(e) || !first.isAlive => again(session, first, verb, request)
      case e: Py4JException => throw BridgeErrors.failed(verb, e)
    }
  }

  private def again(session: classic.SparkSession, broken: Attachment, verb: String, request: String): String =
    try Attachments.replace(session, broken).call(verb, request)
    catch {
      case e: Py4JException if isBroken(e) => throw BridgeErrors.down(e.getMessage)
      case e: Py4JException => throw BridgeErrors.failed(verb, e)
    }

  /** The connection failed, not the verb. */
  private def isBroken(e: Py4JException): Boolean =
    e.isInstanceOf[Py4JNetworkException] ||
      e.getCause.isInstanceOf[Py4JNetworkException] || e.getCause.isInstanceOf[IOException]

  /** What the session shows of itself, where roles are asked for. */
  private def token(session: classic.SparkSession): Option[(String, String)] = {
    val conf = session.sessionState.conf
    Option.when(Settings.flag(conf, "spark.colocate.acl.enabled"))(
      "token" -> SecretSettings.of(session, Exposed.Token))
  }

  private def context(session: classic.SparkSession): Map[String, Any] = {
    val conf = session.sessionState.conf
    Map[String, Any](
      "settings" -> RequestSettings.map(key => key -> Settings.number(conf, key)).toMap,
      "version" -> GroupState.current.version,
      "who" -> session.sparkContext.sparkUser,
      "caseSensitive" -> conf.caseSensitiveAnalysis) ++ token(session) ++ LiveHosts.of(session).toMap
  }
}
