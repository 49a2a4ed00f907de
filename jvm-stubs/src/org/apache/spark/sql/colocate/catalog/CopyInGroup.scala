package org.apache.spark.sql.colocate.catalog

import org.apache.spark.sql.catalyst.catalog.{CatalogTable, CatalogUtils}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.bridge.{ControlPlane, GroupState}
import org.apache.spark.sql.colocate.columns.BucketColumn
import org.apache.spark.sql.colocate.evidence.delta.DeltaCopy
import org.apache.spark.sql.execution.command.RunnableCommand
import org.apache.spark.sql.{Row, SaveMode}

/**
 * CREATE TABLE LIKE and CLONE that make a Delta table. Delta copies the properties, `colocate_with` too, so the copy
 * joins the group: it is checked and listed as any other CREATE.
 */
case class CopyInGroup(command: RunnableCommand, copy: DeltaCopy) extends GroupCommand {

  private def table: CatalogTable = copy.table

  override protected def runIn(session: SparkSession): Seq[Row] = {
    val exists = !copy.isByPath && session.sessionState.catalog.tableExists(table.identifier)
    val kept = exists && (copy.mode == SaveMode.Ignore || copy.mode == SaveMode.ErrorIfExists)
    val group = GroupProperties.group(copy.properties)
    if (kept || (group.isEmpty && !(exists && isMember(session)))) command.run(session)
    else {
      group.filter(_ => copy.isByPath).foreach(DeltaStatement.refusePath(table.identifier.table, _))
      register(session, group.getOrElse(""), exists)
    }
  }

  private def register(session: SparkSession, group: String, exists: Boolean): Seq[Row] = {
    val where = location(session)
    val facts = this.facts(session, group, exists) :+ ("location" -> where)
    if (group.nonEmpty) ControlPlane.call(session, "check_layout", facts: _*)
    val ticket = Ticket.begin(session, "begin_create", facts: _*)
    val files = FailedCreateCleanup.before(session, Some(where).filter(_ => !exists))
    var done = false
    try {
      val rows = TwoPhase.around(ticket)(command.run(session))(Some(where))
      done = true
      rows
    } finally if (!done) files.remove(session.sessionState.catalog.tableExists(table.identifier))
  }

  private def facts(session: SparkSession, group: String, exists: Boolean): Seq[(String, Any)] = {
    val layout = BucketColumn.layoutOf(session, copy.schema)
    val keys = layout.toSeq.flatMap(l => l.keys.zip(l.keyTypes))
    NativeTable.name(session, table) ++ Seq(
      "group" -> group,
      "format" -> "delta",
      "keys" -> keys.map { case (key, keyType) => Map("name" -> key, "type" -> keyType.simpleString) },
      "buckets" -> layout.fold(0)(_.buckets),
      "columns" -> columns,
      "replication" -> GroupProperties.replication(copy.properties).orNull,
      "replace" -> exists)
  }

  private def columns: Seq[Map[String, Any]] =
    BucketColumn.without(copy.schema).map(f => Map("name" -> f.name, "type" -> f.dataType.simpleString))

  private def location(session: SparkSession): String =
    CatalogUtils.URIToString(
      table.storage.locationUri.getOrElse(session.sessionState.catalog.defaultTablePath(table.identifier)))

  private def isMember(session: SparkSession): Boolean = {
    val ident = session.sessionState.catalog.qualifyIdentifier(table.identifier)
    GroupState.current.memberByTable.contains(ident.database.get -> ident.table)
  }
}
