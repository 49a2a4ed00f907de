package org.apache.spark.sql.colocate.ddl

/** One DDL statement in the registry: begun before the catalog works, then committed or aborted. */
trait Ticket {
  def commit(): Unit
  def abort(): Unit
}

object Ticket {

  /** For a statement that the registry need not know. */
  object None extends Ticket {
    override def commit(): Unit = ()
    override def abort(): Unit = ()
  }
}
