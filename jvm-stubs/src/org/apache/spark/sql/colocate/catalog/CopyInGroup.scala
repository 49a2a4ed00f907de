package org.apache.spark.sql.colocate.catalog

import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.bridge.{ControlPlane, GroupState}
import org.apache.spark.sql.colocate.compat.delta.DeltaCopy
import org.apache.spark.sql.colocate.declared.{
  ColumnSpec, GroupProperties, KeyDeclaration, NativeTable, RangeProperties, ReservedProperties, RowModels,
  TableSpec
}
import org.apache.spark.sql.colocate.layout.{BucketColumn, HiddenColumns}
import org.apache.spark.sql.execution.command.RunnableCommand
import org.apache.spark.sql.{Row, SaveMode}

/**
 * CREATE TABLE LIKE and CLONE that make a Delta table. Delta copies the properties, `colocate_with` too, so the copy
 * joins the group: it is checked and registered like any other CREATE.
 */
case class CopyInGroup(command: RunnableCommand, copy: DeltaCopy) extends GroupCommand {

  private def table: CatalogTable = copy.table

  override protected def runIn(session: SparkSession): Seq[Row] = {
    val model = KeyDeclaration.of(copy.schema).getOrElse(copy.properties)
    if (copy.isClone) RowModels().refuseClone(shown, model)
    refuseOthers()
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
    val copied = spec(session, group, exists)
    if (group.nonEmpty) ControlPlane.call(session, "check_layout", copied.facts: _*)
    val ticket = Ticket.begin(session, "begin_create", copied.facts: _*)
    val files = FailedCreateCleanup.before(session, copied.location.filter(_ => !exists))
    var done = false
    try {
      val rows = TwoPhase.around(ticket)(command.run(session))(copied.location)
      done = true
      rows
    } finally if (!done) files.remove(session.sessionState.catalog.tableExists(table.identifier))
  }

  private def spec(session: SparkSession, group: String, exists: Boolean): TableSpec = {
    val layout = BucketColumn.layoutOf(session, copy.schema)
    TableSpec(
      NativeTable.name(session, table),
      group,
      "delta",
      ColumnSpec.of(HiddenColumns.without(copy.schema)),
      layout.toSeq.flatMap(_.keys),
      layout.fold(0)(_.declared),
      GroupProperties.replication(copy.properties),
      NativeTable.location(session, table),
      replace = exists,
      partitions = layout.flatMap(_.partitions),
      ranges = RangeProperties.only(copy.properties))
  }

  /** A copy has the schema of its source, which declares more than its properties. */
  private def refuseOthers(): Unit = if (copy.schema.exists(f => HiddenColumns.contains(f.name))) {
    ReservedProperties.refuseInCreate(shown, copy.typed)
    copy.typed.keys.foreach(DeltaLike.refuseDeclared(shown, _))
  }

  private def shown: String = table.identifier.copy(catalog = None).unquotedString

  private def isMember(session: SparkSession): Boolean =
    GroupState.current.member(NativeTable.name(session, table)).isDefined
}
