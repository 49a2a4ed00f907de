package org.apache.spark.sql.colocate.catalog

import org.apache.spark.sql.classic.SparkSession

/**
 * One DDL statement in two phases: the control plane checks and reserves, the catalog does the work, the control plane
 * gets the outcome. If the work fails, or this driver dies, the reservation is undone: no group stays without a table.
 */
object TwoPhase {

  /**
   * @param verb     `begin_create`, `begin_alter`, `begin_drop` or `begin_rename`, with its arguments
   * @param location where the table's files are; evaluated after the work
   */
  def apply[T](session: SparkSession, verb: String, args: (String, Any)*)(work: => T)(location: => Option[String]): T =
    around(Ticket.begin(session, verb, args: _*))(work)(location)

  def around[T](ticket: Ticket)(work: => T)(location: => Option[String]): T = {
    var done = false
    try {
      val result = work
      done = true
      ticket.commit(location)
      result
    } finally if (!done) ticket.abort()
  }
}
