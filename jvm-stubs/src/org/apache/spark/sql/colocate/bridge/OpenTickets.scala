package org.apache.spark.sql.colocate.bridge

import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

/** Statements whose catalog part is under way: a new process is told of them and keeps their leases alive. */
private[bridge] object OpenTickets {
  private val open = ConcurrentHashMap.newKeySet[String]()

  def all: Seq[String] = open.asScala.toSeq

  def begun(ticket: String): Unit = if (ticket.nonEmpty) open.add(ticket)

  def finished(ticket: String): Unit = open.remove(ticket)

  def clear(): Unit = open.clear()
}
