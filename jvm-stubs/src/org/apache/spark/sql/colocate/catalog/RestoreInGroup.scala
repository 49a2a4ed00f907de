package org.apache.spark.sql.colocate.catalog

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.spark.internal.Logging
import org.apache.spark.sql.colocate.compat.delta.DeltaRestore
import org.apache.spark.sql.colocate.evidence.delta.{DamageMark, DeltaIndexes, DeltaTables, DeltaTransaction}
import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.bridge.{ControlPlane, GroupState}
import org.apache.spark.sql.colocate.declared.{ColumnSpec, NativeTable, TableSpec}
import org.apache.spark.sql.connector.catalog.{Identifier, Table}
import org.apache.spark.sql.execution.command.RunnableCommand

/**
 * RESTORE of a Delta table to a version with another group or other buckets: the table joins, changes or leaves its
 * group with it. Users restore a table to get its rows back, so a version that no longer fits its group is
 * restored, too: then the table is in no group, and a warning and `system.doctor` say why.
 */
case class RestoreInGroup(command: RunnableCommand, restore: DeltaRestore) extends GroupCommand with Logging {

  override protected def runIn(session: SparkSession): Seq[Row] = {
    val name = NativeTable.name(session, restore.table)
    // RESTORE may be the way out for a table that can't be read any more.
    val ident = Identifier.of(Array(name.database.get), name.table)
    val held = Try(DeltaTables.load(session, ident))
    val before = held.flatMap(table => Try(spec(session, name, table))).toOption
    val damaged = held.flatMap(table => Try(DamageMark.isSet(DeltaIndexes.snapshotOfTable(table)))).getOrElse(false)
    val after = spec(session, name, restore.restored)
    val ticket = if (before.exists(isSame(_, after))) Ticket.NotNeeded else begin(session, after)
    val rows = TwoPhase.around(ticket)(command.run(session))(after.location)
    if (damaged) markAgain(DeltaTables.load(session, ident))
    RefreshCache(session, restore.restored) // Delta itself leaves the cache as it was.
    rows
  }

  /** Damaged files may be older than the mark. */
  private def markAgain(table: Table): Unit = {
    if (!DamageMark.isSet(DeltaIndexes.snapshotOfTable(table))) DamageMark.set(new DeltaTransaction(table))
  }

  private def begin(session: SparkSession, after: TableSpec): Ticket =
    if (after.group.isEmpty) leave(session, after)
    else
      try {
        ControlPlane.call(session, "check_layout", after.facts: _*)
        Ticket.begin(session, "begin_alter", after.facts: _*)
      } catch {
        case refusal: ColocateException if !passing(refusal.getCondition) =>
          val left = leave(session, after)
          logWarning(s"RESTORE brings ${after.name.copy(catalog = None).unquotedString} to a version that its group " +
            s"refuses, so it is in no group then: ${refusal.getMessage}")
          left
      }

  private def leave(session: SparkSession, after: TableSpec): Ticket =
    if (isMember(after.name)) Ticket.begin(session, "begin_alter", after.copy(group = "").facts: _*)
    else Ticket.NotNeeded

  /** Errors that say nothing about the table: the statement fails, and can be run again. */
  private val passing = Set("GROUP_BUSY", "STORE_LOCKED", "STORE_UNREACHABLE", "CONTROL_PLANE_DOWN")

  private def isSame(before: TableSpec, after: TableSpec): Boolean =
    if (before.group.isEmpty && after.group.isEmpty) !isMember(after.name)
    else (before.group, before.buckets, keys(before)) == (after.group, after.buckets, keys(after))

  private def keys(table: TableSpec): Seq[ColumnSpec] =
    table.keys.flatMap(key => table.columns.find(_.name == key))

  private def isMember(name: TableIdentifier): Boolean = GroupState.current.member(name).isDefined

  private def spec(session: SparkSession, name: TableIdentifier, table: Table): TableSpec = TableSpec.ofDelta(
    name,
    table,
    DeltaTables.layoutOf(session, table),
    table.properties().asScala.toMap,
    NativeTable.location(session, restore.table))
}
