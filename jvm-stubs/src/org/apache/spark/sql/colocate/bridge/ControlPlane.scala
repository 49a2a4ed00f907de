package org.apache.spark.sql.colocate.bridge

import java.io.IOException

import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.conf.Json.formats
import org.apache.spark.sql.colocate.conf.{Json, Settings}
import org.apache.spark.sql.{classic, SparkSession}
import org.json4s.JValue
import org.json4s.JsonAST.{JNothing, JNull, JString}
import py4j.{Py4JException, Py4JNetworkException}

/**
 * The access to the control plane: one process for each JVM, started by the first statement that needs it, and started
 * again by the next one after it has died. Statements wait for it and fail without it; queries never do.
 */
object ControlPlane {

  /** Numbers that the verbs need, a duration in seconds. */
  private val RequestSettings =
    Seq("spark.colocate.replication", "spark.colocate.recycle.period", "spark.colocate.doctor.minAge")

  /** Runs a verb of the service. Applies the fresh snapshot, so the session's next query sees the change. */
  def call(session: SparkSession, verb: String, args: (String, Any)*): JValue = {
    val driver = session.asInstanceOf[classic.SparkSession]
    OpenTickets.reportPending(outcome => send(driver, "finish", outcome))
    if (verb == "finish") finish(driver, args.toMap) else begun(send(driver, verb, args.toMap))
  }

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

  private def finish(session: classic.SparkSession, args: Map[String, Any]): JValue = {
    val ticket = args("ticket").toString
    try {
      val answer = send(session, "finish", args)
      OpenTickets.finished(ticket)
      answer
    } catch {
      case e: ColocateException =>
        OpenTickets.failed(ticket, args, e)
        throw e
    }
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
      "token" -> Settings.get(conf, "spark.colocate.acl.token"))
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
