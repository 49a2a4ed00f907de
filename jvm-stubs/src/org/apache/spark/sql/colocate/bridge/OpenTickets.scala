package org.apache.spark.sql.colocate.bridge

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicBoolean
import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.{ColocateException, Json}

/**
 * Statements that are in progress: a new process gets their tickets and keeps their leases. An outcome that could not
 * be reported, because the process or the store was not available, is reported before the next call, and by a thread of
 * its own for a driver that makes no more calls.
 */
private[bridge] object OpenTickets extends Logging {
  private val open = ConcurrentHashMap.newKeySet[String]()
  private val pending = new ConcurrentHashMap[String, () => Unit]()
  private val isRetrying = new AtomicBoolean(false)

  private val Passing = Seq("STORE_", "CONTROL_PLANE_")
  private val RetryMillis = 5000L

  def all: Seq[String] = open.asScala.toSeq

  def begun(ticket: String): Unit = if (ticket.nonEmpty) open.add(ticket)

  /** The connection or the store failed, so the same call may succeed later. */
  def isPassing(e: ColocateException): Boolean = Passing.exists(e.code.startsWith)

  /** Reports an outcome now, or later. Never throws. */
  def report(ticket: String, session: SparkSession)(send: () => Unit): Unit =
    if (!isReported(ticket, send)) {
      pending.put(ticket, send)
      retryFor(session)
    }

  /** Reports the outcomes that failed before. At the first failure the rest waits for the next call. */
  def reportPending(): Unit =
    pending.asScala.toSeq.iterator
      // Taken out first: to settle a statement calls the control plane, which comes here again.
      .filter { case (ticket, send) => pending.remove(ticket, send) }
      .find { case (ticket, send) => !isReported(ticket, send) }
      .foreach { case (ticket, send) => pending.put(ticket, send) }

  def clear(): Unit = {
    open.clear()
    pending.clear()
  }

  private def isReported(ticket: String, send: () => Unit): Boolean =
    try {
      send()
      open.remove(ticket)
      true
    } catch {
      case e: ColocateException if isPassing(e) =>
        logWarning(s"The control plane did not hear the outcome of ticket ${Json.write(Map("id" -> ticket))}; it is " +
          s"told again. ${e.getMessage}")
        false
      case NonFatal(e) =>
        logWarning(s"The registry may not have the outcome of ticket $ticket: CALL system.reconcile() reads the " +
          "tables' properties again.", e)
        open.remove(ticket)
        true
    }

  /** Until all is reported, or the application has ended. */
  private def retryFor(session: SparkSession): Unit = if (isRetrying.compareAndSet(false, true)) {
    val thread = new Thread(() =>
      try while (!pending.isEmpty && !session.sparkContext.isStopped) {
        Thread.sleep(RetryMillis)
        reportPending()
      } finally isRetrying.set(false), "colocate-outcomes")
    thread.setDaemon(true)
    thread.start()
  }
}
