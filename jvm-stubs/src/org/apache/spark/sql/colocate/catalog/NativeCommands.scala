package org.apache.spark.sql.colocate.catalog

import scala.util.Try

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, CatalogTableType}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.classic.ClassicConversions.castToImpl
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.bridge.{ControlPlane, GroupState}
import org.apache.spark.sql.colocate.declared.{GroupProperties, NativeTable, TableSpec}
import org.apache.spark.sql.colocate.write.InputSize
import org.apache.spark.sql.errors.QueryCompilationErrors
import org.apache.spark.sql.execution.CommandExecutionMode
import org.apache.spark.sql.execution.command._
import org.apache.spark.sql.execution.datasources.{CreateTable, LogicalRelationWithTable}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{Row, SparkSession => AnySession}

/**
 * A Spark command on a native table, with the calls of the control plane around it. EXPLAIN shows the inner command.
 */
trait GroupCommand extends LeafRunnableCommand {
  def command: RunnableCommand
  override def output: Seq[Attribute] = command.output
  override def innerChildren: Seq[QueryPlan[_]] = Seq(command)
  override lazy val metrics: Map[String, SQLMetric] = command.metrics
  override def simpleString(maxFields: Int): String = nodeName

  final override def run(sparkSession: AnySession): Seq[Row] = runIn(castToImpl(sparkSession))

  protected def runIn(session: SparkSession): Seq[Row]

  protected def locationOf(session: SparkSession, ident: TableIdentifier): Option[String] =
    NativeTable.location(session, session.sessionState.catalog.getTableMetadata(ident))
}

/** CREATE TABLE, CREATE TABLE AS SELECT, CREATE TABLE LIKE: the group is made or joined together with the table. */
case class CreateInGroup(command: RunnableCommand, table: CatalogTable, columns: StructType) extends GroupCommand {

  override protected def runIn(session: SparkSession): Seq[Row] =
    // IF NOT EXISTS, an append and the error for a table that is there are left to Spark.
    if (session.sessionState.catalog.tableExists(table.identifier)) command.run(session)
    else begin(session, replace = false)(command.run(session))

  /** Reserves the membership, does the work and reports the outcome. */
  def begin(session: SparkSession, replace: Boolean)(work: => Seq[Row]): Seq[Row] = {
    val group = GroupProperties.group(table.properties).getOrElse("")
    val spec = NativeTable.spec(session, table, columns, group)
    val facts = spec.copy(replace = replace, bytes = InputSize.of(command)).facts
    ControlPlane.call(session, "check_layout", facts: _*)
    TwoPhase(session, "begin_create", facts: _*) {
      withoutLeftOvers(session)(work)
    }(locationOf(session, table.identifier))
  }

  /** A failed CREATE TABLE AS SELECT of Spark's leaves its folder behind. */
  private def withoutLeftOvers(session: SparkSession)(work: => Seq[Row]): Seq[Row] = {
    val folder = FailedCreateCleanup.before(session, NativeTable.location(session, table))
    var done = false
    try {
      val result = work
      done = true
      result
    } finally if (!done) folder.remove(session.sessionState.catalog.tableExists(table.identifier))
  }
}

/**
 * `df.write.mode("overwrite").saveAsTable(t)`: over a table that exists, Spark drops it and creates it again. If a
 * group is concerned, everything is checked and reserved before the drop.
 *
 * @param second how the table is created again
 */
case class OverwriteInGroup(command: RunnableCommand, second: CreateTable) extends GroupCommand {

  override protected def runIn(session: SparkSession): Seq[Row] = {
    val catalog = session.sessionState.catalog
    val ident = catalog.qualifyIdentifier(second.tableDesc.identifier)
    val drop = DropTableCommand(ident, ifExists = true, isView = false, purge = false)
    val grouped = analyzed(session, ident)
    if (!catalog.tableExists(ident)) grouped.getOrElse(command).run(session)
    else grouped match {
      case Some(create) => create.begin(session, replace = true)(overwrite(session, drop, create))
      case None => DropFromGroup(drop).around(session)(command.run(session))
    }
  }

  /** The second half as analysis understands it; `None` when the new table is in no group. */
  private def analyzed(session: SparkSession, ident: TableIdentifier): Option[CreateInGroup] = {
    val create = second.copy(tableDesc = second.tableDesc.copy(identifier = ident))
    session.sessionState.executePlan(create, CommandExecutionMode.SKIP).analyzed match {
      case made: CreateInGroup => Some(made)
      case _ => None
    }
  }

  // The inner CREATE runs as it is: its membership is reserved already.
  private def overwrite(session: SparkSession, drop: DropTableCommand, create: CreateInGroup): Seq[Row] = {
    second.query.flatMap(_.collectFirst {
      case LogicalRelationWithTable(_, Some(read)) if read.identifier == drop.tableName =>
        throw QueryCompilationErrors.cannotOverwriteTableThatIsBeingReadFromError(drop.tableName)
    })
    drop.run(session)
    create.command.run(session)
    session.sessionState.catalog.refreshTable(drop.tableName)
    Nil
  }
}

/** CREATE TABLE ... LIKE: the copy has the source's buckets, and joins its group unless it names another or ''. */
case class LikeInGroup(command: CreateTableLikeCommand) extends GroupCommand {

  override protected def runIn(session: SparkSession): Seq[Row] = {
    val source = session.sessionState.catalog.getTempViewOrPermanentTableMetadata(command.sourceTable)
    val hive = command.fileFormat.inputFormat.map(_ => DDLUtils.HIVE_PROVIDER)
    val table = source.copy(
      identifier = command.targetTable,
      tableType = CatalogTableType.MANAGED,
      storage = source.storage.copy(locationUri = command.fileFormat.locationUri),
      provider = command.provider.orElse(hive).orElse(source.provider),
      properties = GroupProperties.normal(LikeInGroup.properties(source, command)))
    val like = command.copy(properties = table.properties)
    if (NativeTable.isMember(table)) CreateInGroup(like, table, table.schema).run(session) else like.run(session)
  }
}

object LikeInGroup {

  /** A native table with a group, or a copy of one: Spark itself copies the buckets and no property. */
  def concerns(session: SparkSession, like: CreateTableLikeCommand): Boolean =
    GroupProperties.mentions(like.properties.keys) || Try {
      isCopied(session.sessionState.catalog.getTempViewOrPermanentTableMetadata(like.sourceTable), like)
    }.getOrElse(false) // The command itself says what is wrong with its source.

  private def isCopied(source: CatalogTable, like: CreateTableLikeCommand): Boolean =
    NativeTable.isMember(source) && NativeTable.isNative(source) && like.fileFormat.inputFormat.isEmpty &&
      like.provider.forall(provider => NativeTable.isNative(source.copy(provider = Some(provider))))

  private def properties(source: CatalogTable, like: CreateTableLikeCommand): Map[String, String] = {
    val own = like.properties
    if (GroupProperties.value(own, GroupProperties.Group).isDefined || !isCopied(source, like)) own
    else {
      val replication = GroupProperties.replication(source.properties).map(GroupProperties.Replication -> _)
      replication.toMap ++ own ++ GroupProperties.group(source.properties).map(GroupProperties.Group -> _)
    }
  }
}

/** SET and UNSET TBLPROPERTIES: join, change or leave a group. The control plane refuses a layout that does not fit. */
case class AlterGroup(command: RunnableCommand, table: TableIdentifier, set: Map[String, String], unset: Seq[String])
    extends GroupCommand {

  override protected def runIn(session: SparkSession): Seq[Row] = {
    val before = session.sessionState.catalog.getTableRawMetadata(table)
    val kept = before.properties.filterNot { case (key, _) => unset.exists(_.equalsIgnoreCase(key)) }
    val after = before.copy(properties =
      GroupProperties.normal(if (GroupProperties.mentions(set.keys)) overlay(kept, set) else kept ++ set))
    if (!NativeTable.isMember(before) && !NativeTable.isMember(after)) command.run(session)
    else {
      val group = GroupProperties.group(after.properties).getOrElse("")
      TwoPhase(session, "begin_alter", NativeTable.spec(session, after, after.schema, group).facts: _*) {
        change(session, before, after)
      }(NativeTable.location(session, after))
    }
  }

  private def overlay(old: Map[String, String], set: Map[String, String]): Map[String, String] =
    old.filterNot { case (key, _) => set.keys.exists(_.equalsIgnoreCase(key)) } ++ set

  /** Spark's own commands do the work, as two steps where some keys are set and others go. */
  private def change(session: SparkSession, before: CatalogTable, after: CatalogTable): Seq[Row] = {
    val gone = (before.properties.keySet -- after.properties.keySet).toSeq.sorted
    if (gone.nonEmpty) AlterTableUnsetPropertiesCommand(table, gone, ifExists = true, isView = false).run(session)
    val changed = after.properties.filter { case (key, value) => !before.properties.get(key).contains(value) }
    if (changed.nonEmpty) AlterTableSetPropertiesCommand(table, changed, isView = false).run(session)
    Nil
  }
}

/** ALTER TABLE ... RENAME TO of a member. */
case class RenameInGroup(command: AlterTableRenameCommand) extends GroupCommand {

  override protected def runIn(session: SparkSession): Seq[Row] = {
    val catalog = session.sessionState.catalog
    val before = catalog.getTableMetadata(command.oldName)
    if (!NativeTable.isMember(before)) command.run(session)
    else {
      val old = catalog.qualifyIdentifier(command.oldName)
      val renamed =
        catalog.qualifyIdentifier(command.newName.copy(database = command.newName.database.orElse(old.database)))
      TwoPhase(session, "begin_rename",
        "db" -> old.database.get, "table" -> old.table,
        "new_db" -> renamed.database.get, "new_table" -> renamed.table) {
        command.run(session)
      }(locationOf(session, renamed))
    }
  }
}

/** DROP TABLE through Spark's V1 command (`spark.sql.legacy.useV1Command`, and the first half of an overwrite). */
case class DropFromGroup(command: DropTableCommand) extends GroupCommand {

  override protected def runIn(session: SparkSession): Seq[Row] = around(session)(command.run(session))

  def around(session: SparkSession)(work: => Seq[Row]): Seq[Row] = {
    val catalog = session.sessionState.catalog
    val ident = catalog.qualifyIdentifier(command.tableName)
    // A table of another format keeps its property elsewhere: the pushed state of the groups knows it.
    def known = GroupState.current.member(ident).isDefined
    val member = catalog.tableExists(ident) && (known || NativeTable.isMember(catalog.getTableRawMetadata(ident)))
    if (!member) work
    else {
      TwoPhase(session, "begin_drop", TableSpec.named(ident): _*)(work)(None)
    }
  }
}
