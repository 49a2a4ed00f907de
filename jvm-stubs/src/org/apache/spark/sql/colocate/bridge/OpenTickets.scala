package org.apache.spark.sql.colocate.bridge

import java.util.concurrent.ConcurrentHashMap
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.colocate.ColocateException

/**
 * Statements that are in progress: a new process gets their tickets and keeps their leases. An outcome that could not
 * be reported, because the process or the store was not available, is reported before the next call.
 */
private[bridge] object OpenTickets {
  private val open = ConcurrentHashMap.newKeySet[String]()
  private val pending = new ConcurrentHashMap[String, Map[String, Any]]()

  def all: Seq[String] = open.asScala.toSeq

  def begun(ticket: String): Unit = if (ticket.nonEmpty) open.add(ticket)

  def finished(ticket: String): Unit = {
    open.remove(ticket)
    pending.remove(ticket)
  }

  /** The outcome is reported again only if the connection or the store failed. */
  def failed(ticket: String, args: Map[String, Any], error: ColocateException): Unit =
    if (Passing.exists(error.code.startsWith)) pending.put(ticket, args) else finished(ticket)

  /** Reports the outcomes that failed before. At the first failure the rest waits for the next call. */
  def reportPending(report: Map[String, Any] => Unit): Unit =
    try pending.asScala.toSeq.foreach { case (ticket, args) =>
      report(args)
      finished(ticket)
    } catch { case e: ColocateException if Passing.exists(e.code.startsWith) => }

  def clear(): Unit = {
    open.clear()
    pending.clear()
  }

  private val Passing = Seq("STORE_", "CONTROL_PLANE_")
}
