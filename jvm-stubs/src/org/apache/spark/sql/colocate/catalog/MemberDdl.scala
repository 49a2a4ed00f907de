package org.apache.spark.sql.colocate.catalog

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.spark.sql.catalyst.analysis.{NoSuchNamespaceException, NoSuchTableException}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.bridge.{ControlPlane, GroupState}
import org.apache.spark.sql.colocate.compat.TableInfos.TableInfo
import org.apache.spark.sql.colocate.declared.{
  DeltaLayout, GroupProperties, RangeProperties, ReservedProperties, RowModels, TableName, TableSpec
}
import org.apache.spark.sql.colocate.evidence.delta.DeltaTables
import org.apache.spark.sql.colocate.write.RowGroupSize
import org.apache.spark.sql.colocate.write.overwrite.V1Overwrite
import org.apache.spark.sql.connector.catalog._

/**
 * CREATE, ALTER, DROP and RENAME of Delta tables. Statements that concern buckets or a group go through the control
 * plane in two phases, see [[TwoPhase]]. For all others only `work` is called, which runs the statement in the catalog
 * that ColocateCatalog wraps.
 */
class MemberDdl(session: SparkSession, tables: TableCatalog) extends Ddl {

  private val rowGroups = RowGroupSize(session, tables)

  override def create(ident: Identifier, info: TableInfo)(work: TableInfo => Table): Table =
    folderOf(ident, info).fold(createAnew(ident, info)(work))(createOver(ident, info, _)(work))

  /** The table with hidden columns that is in the new table's folder already. */
  private def folderOf(ident: Identifier, info: TableInfo): Option[HeldFolder] =
    if (!DeltaLayout.isDelta(info.properties(), session.sessionState.conf)) None
    else Try(new DeltaStatement(session, ident, info).location).toOption.flatten.flatMap(HeldFolder.at(session, _))

  private def createOver(ident: Identifier, info: TableInfo, folder: HeldFolder)(work: TableInfo => Table): Table = {
    val made = new CreateOverFolder(session, new DeltaStatement(session, ident, info), info, folder).forDelta
    if (folder.group.isEmpty || TableName.isPath(ident)) work(made)
    else {
      val facts = folder.spec(ident).facts
      ControlPlane.call(session, "check_layout", facts: _*)
      TwoPhase.around(Ticket.begin(session, "begin_create", facts: _*))(work(made))(location(ident))
    }
  }

  private def createAnew(ident: Identifier, info: TableInfo)(work: TableInfo => Table): Table =
    statement(ident, info).fold(work(info)) { statement =>
      checked(statement, replace = false)
      val ticket = begin(statement, statement.group, replace = false)
      val files = FailedCreateCleanup.before(session, statement.location)
      TwoPhase.around(removing(ticket, files, ident)) {
        work(statement.forDelta(rowGroups.at(statement.location, statement.properties)))
      }(location(ident))
    }

  /**
   * CREATE TABLE LIKE of a Delta table. Delta copies the table's properties, so the new table joins the same group,
   * with the checks of any CREATE.
   */
  override def like(ident: Identifier, info: TableInfo, source: Table)(work: => Table): Table = {
    DeltaLike.refuseOthers(session, ident, info, source)
    DeltaLike.of(session, ident, info, source).fold(work) { like =>
      ControlPlane.call(session, "check_layout", like.facts: _*)
      val ticket = Ticket.begin(session, "begin_create", like.facts: _*)
      val files = FailedCreateCleanup.before(session, like.location)
      TwoPhase.around(removing(ticket, files, ident))(work)(location(ident))
    }
  }

  /** @param replace may a table of this name exist already? */
  override def stage(ident: Identifier, info: TableInfo, replace: Boolean)(
      work: TableInfo => StagedTable): StagedTable = {
    val existing = if (replace) load(ident) else None
    val overwrite = V1Overwrite.isMarked(info)
    val unmarked = V1Overwrite.unmarked(info)
    val concerned = existing.exists(table => isMember(ident, table) || DeltaTables.hidesColumns(session, table))
    if (statement(ident, unmarked).isEmpty && !concerned) work(unmarked)
    else staged(new DeltaStatement(session, ident, unmarked), existing, overwrite)(work)
  }

  private def staged(statement: DeltaStatement, existing: Option[Table], overwrite: Boolean)(
      work: TableInfo => StagedTable): StagedTable = {
    val held = existing.flatMap(t => GroupProperties.group(t.properties().asScala.toMap))
    // df.write.mode("overwrite").saveAsTable keeps the table's properties, and so its group.
    val group = if (overwrite) statement.group.orElse(held) else statement.group
    checked(statement, replace = existing.isDefined)
    val keepsLayout = overwrite && statement.layout.isEmpty
    val ticket =
      if ((group.isEmpty && !existing.exists(isMember(statement.ident, _))) || keepsLayout) Ticket.NotNeeded
      else begin(statement, Some(group.getOrElse("")), replace = existing.isDefined)
    val files = FailedCreateCleanup.before(session, statement.location.filter(_ => existing.isEmpty))
    val whole = removing(ticket, files, statement.ident)
    var staged = false
    try {
      val target = existing.filter(_ => overwrite).flatMap(V1Overwrite.target(session, tables, statement.ident, _))
      val made = work(statement.forDelta(rowGroups.ofNew(statement.properties)))
      val table = new ColocatedStagedTable(
        made, statement.declared, statement.ranges, target, whole, () => load(statement.ident))
      staged = true
      table
    } finally if (!staged) whole.abort()
  }

  /** The ticket; if it is aborted, a folder that the statement has created is removed too, if it holds no files. */
  private def removing(ticket: Ticket, files: FailedCreateCleanup, ident: Identifier): Ticket = new Ticket {
    override def hold(): Unit = ticket.hold()
    override def commit(where: => Option[String]): Unit = ticket.commit(location(ident))
    override def abort(): Unit = try files.remove(tables.tableExists(ident)) finally ticket.abort()
  }

  override def alter(ident: Identifier, changes: Seq[TableChange])(work: Seq[TableChange] => Table): Table =
    if (!AlterGroupOfDelta.concerns(changes)) work(changes)
    else load(ident).filter(DeltaTables.isDelta).flatMap(SetLocation.of(session, ident, _, changes))
      .fold(alterInPlace(ident, changes)(work))(moved(ident, _)(work(changes)))

  private def moved(ident: Identifier, move: SetLocation)(work: => Table): Table = {
    move.refuseOthers()
    val spec = move.spec
    if (spec.group.isEmpty && !load(ident).exists(isMember(ident, _))) work
    else {
      if (spec.group.nonEmpty) ControlPlane.call(session, "check_layout", spec.facts: _*)
      TwoPhase(session, "begin_alter", spec.facts: _*)(work)(location(ident))
    }
  }

  private def alterInPlace(ident: Identifier, changes: Seq[TableChange])(work: Seq[TableChange] => Table): Table =
    load(ident).filter(DeltaTables.isDelta).fold(work(changes)) { table =>
      val alter = new AlterGroupOfDelta(session, ident, table, changes)
      alter.refuseProperties()
      RowModels().refuseChanges(TableName.shown(session, ident), table, changes)
      alter.refuseBrokenLayout()
      if (alter.group.isEmpty && !isMember(ident, table)) work(alter.normalized)
      else TwoPhase(session, "begin_alter", alter.facts: _*)(work(alter.normalized))(location(ident))
    }

  override def drop(ident: Identifier, purge: Boolean)(work: => Boolean): Boolean =
    if (!load(ident).exists(isMember(ident, _))) work
    else {
      val args = named(ident) :+ ("purge" -> purge)
      TwoPhase(session, "begin_drop", args: _*)(work)(None)
    }

  override def rename(from: Identifier, to: Identifier)(work: => Unit): Unit =
    if (!load(from).exists(isMember(from, _))) work
    else {
      val full = if (to.namespace().isEmpty) Identifier.of(from.namespace(), to.name()) else to
      val renamed = named(full).map { case (key, value) => s"new_$key" -> value }
      val args = named(from) ++ renamed
      TwoPhase(session, "begin_rename", args: _*)(work)(location(full))
    }

  /** DROP DATABASE CASCADE also removes the groups of the database. */
  override def dropNamespace(namespace: Array[String], cascade: Boolean)(work: => Boolean): Boolean = {
    val members = cascade && Try(tables.listTables(namespace).toSeq).getOrElse(Nil).exists { ident =>
      // Temporary views are listed too, without a namespace.
      ident.namespace().nonEmpty && load(ident).exists(isMember(ident, _))
    }
    val dropped = work
    if (dropped && members) ControlPlane.call(session, "drop_database", "db" -> namespace.last)
    dropped
  }

  private def statement(ident: Identifier, info: TableInfo): Option[DeltaStatement] = {
    val group = GroupProperties.group(info.properties().asScala.toMap)
    if (DeltaLayout.isDelta(info.properties(), session.sessionState.conf)) {
      val statement = new DeltaStatement(session, ident, info)
      val ranged = RangeProperties.mentions(statement.properties.keys)
      val keyed = RowModels().declares(statement.properties)
      Option.when(statement.layout.isDefined || group.isDefined || ranged || keyed)(statement)
    } else {
      refuseOnlyDelta(ident, info)
      group.foreach(refuseFormat(ident, info, _))
      None
    }
  }

  private def refuseOnlyDelta(ident: Identifier, info: TableInfo): Unit = {
    val properties = info.properties().asScala.toMap
    if (RangeProperties.declares(properties.keys))
      RangeProperties.refuseFormat(TableName.shown(session, ident), format(info))
    RowModels().refuseFormat(TableName.shown(session, ident), properties, format(info))
  }

  private def format(info: TableInfo): String =
    info.properties().getOrDefault(TableCatalog.PROP_PROVIDER, session.sessionState.conf.defaultDataSourceName)

  /** Fails for a format that can't be in a group; the control plane makes the error, which lists those that can. */
  private def refuseFormat(ident: Identifier, info: TableInfo, group: String): Unit = {
    val spec = TableSpec(TableName.of(session, ident), group, format(info), Nil, Nil, 0, None, None)
    ControlPlane.call(session, "check_layout", spec.facts: _*)
  }

  private def named(ident: Identifier): Seq[(String, Any)] = TableSpec.named(TableName.of(session, ident))

  private def checked(statement: DeltaStatement, replace: Boolean): Unit = {
    statement.refusePathInGroup()
    ReservedProperties.refuseInCreate(TableName.shown(session, statement.ident), statement.properties)
    if (statement.layout.isDefined || statement.group.isDefined) {
      ControlPlane.call(session, "check_layout", statement.facts(statement.group.getOrElse(""), replace): _*)
    }
    statement.ranges
    statement.keyModel
  }

  private def begin(statement: DeltaStatement, group: Option[String], replace: Boolean): Ticket =
    group.fold[Ticket](Ticket.NotNeeded)(g => Ticket.begin(session, "begin_create", statement.facts(g, replace): _*))

  private def location(ident: Identifier): Option[String] =
    load(ident).flatMap(t => Option(t.properties().get(TableCatalog.PROP_LOCATION)))

  private def load(ident: Identifier): Option[Table] =
    try Some(tables.loadTable(ident))
    catch { case _: NoSuchTableException | _: NoSuchNamespaceException => None }

  // If the table's metadata can't be read, the driver's copy of the groups decides, so that the table can be dropped.
  private def isMember(ident: Identifier, table: Table): Boolean =
    GroupState.current.member(TableName.of(session, ident)).isDefined ||
      Try(GroupProperties.group(table.properties().asScala.toMap)).toOption.flatten.isDefined
}
