package org.apache.spark.sql.colocate.bridge

import java.util.concurrent.ConcurrentHashMap
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.colocate.ColocateException

/**
 * Statements whose catalog part is under way: a new process is told of them and keeps their leases alive. The outcome
 * of one that could not be told, because the process or the store was not to be had, is told before the next verb.
 */
private[bridge] object OpenTickets {
  private val open = ConcurrentHashMap.newKeySet[String]()
  private val unheard = new ConcurrentHashMap[String, Map[String, Any]]()

  def all: Seq[String] = open.asScala.toSeq

  def begun(ticket: String): Unit = if (ticket.nonEmpty) open.add(ticket)

  def finished(ticket: String): Unit = {
    open.remove(ticket)
    unheard.remove(ticket)
  }

  /** Another try makes sense where nothing but the way to the store failed. */
  def failed(ticket: String, args: Map[String, Any], error: ColocateException): Unit =
    if (Passing.exists(error.code.startsWith)) unheard.put(ticket, args) else finished(ticket)

  /** Tells what could not be told before; the first failure leaves the rest for the next time. */
  def tellUnheard(tell: Map[String, Any] => Unit): Unit =
    try unheard.asScala.toSeq.foreach { case (ticket, args) =>
      tell(args)
      finished(ticket)
    } catch { case e: ColocateException if Passing.exists(e.code.startsWith) => }

  def clear(): Unit = {
    open.clear()
    unheard.clear()
  }

  private val Passing = Seq("STORE_", "CONTROL_PLANE_")
}
