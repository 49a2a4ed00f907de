package org.apache.spark.sql.colocate.catalog

import scala.util.Try

import org.apache.spark.sql.colocate.compat.V1Writers
import org.apache.spark.sql.colocate.evidence.delta.DeltaCommands
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, CatalogUtils}
import org.apache.spark.sql.catalyst.plans.logical.{Command, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.bridge.GroupState
import org.apache.spark.sql.colocate.declared.{GroupProperties, NativeTable, RangeProperties, RowModels}
import org.apache.spark.sql.colocate.write.KeepNativeLayout
import org.apache.spark.sql.execution.command._
import org.apache.spark.sql.types.StructType

/**
 * Matches: Spark's commands for native tables (CREATE, CTAS, LIKE, ALTER, RENAME, DROP), Delta's CLONE and RESTORE.
 * They never reach the catalog plug-in.
 * Produces: a command around each that adds, changes or removes the table's membership in its group together with the
 * table.
 * Not when: the command does not concern a group, or a view is meant.
 */
case class WrapNativeDdl(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    if (plan.isInstanceOf[Command] && GroupState.current.hasMembers) CatalogWatch.attach(session)
    RefuseConversion(session, plan)
    wrapped(plan)
  }

  private def wrapped(plan: LogicalPlan): LogicalPlan = plan match {
    case create: CreateDataSourceTableCommand if isOnlyDeltas(create.table) => refuse(create.table)

    case ctas: CreateDataSourceTableAsSelectCommand if isOnlyDeltas(ctas.table) => refuse(ctas.table)

    case V1Writers.Native(save, create) => OverwriteInGroup(normal(save), create)

    case create: CreateDataSourceTableCommand if NativeTable.namesGroup(create.table) =>
      val table = normal(create.table)
      CreateInGroup(create.copy(table = table), table, table.schema)

    case ctas: CreateDataSourceTableAsSelectCommand if NativeTable.namesGroup(ctas.table) =>
      val table = normal(ctas.table)
      val named = ctas.query.schema.zip(ctas.outputColumnNames)
      val schema = StructType(named.map { case (f, name) => f.copy(name = name) })
      val query = table.bucketSpec.fold(ctas.query)(
        KeepNativeLayout.layOut(ctas.query, ctas.outputColumnNames, _, Some(located(table))))
      CreateInGroup(ctas.copy(table = table, query = query), table, schema)

    // An empty colocate_with names no group, and is left out of the properties.
    case create: CreateDataSourceTableCommand if mentions(create.table) => create.copy(table = normal(create.table))

    case ctas: CreateDataSourceTableAsSelectCommand if mentions(ctas.table) => ctas.copy(table = normal(ctas.table))

    case like: CreateTableLikeCommand if LikeInGroup.concerns(session, like) => LikeInGroup(like)

    case command: RunnableCommand if DeltaCommands.copy(command).isDefined =>
      CopyInGroup(command, DeltaCommands.copy(command).get)

    case command: RunnableCommand if DeltaCommands.restore(command).isDefined =>
      RestoreInGroup(command, DeltaCommands.restore(command).get)

    case alter @ AlterTableSetPropertiesCommand(table, set, false) if GroupProperties.mentions(set.keys) =>
      AlterGroup(alter, table, set, Nil)

    case alter @ AlterTableUnsetPropertiesCommand(table, unset, _, false) if GroupProperties.mentions(unset) =>
      AlterGroup(alter, table, Map.empty, unset)

    case rename: AlterTableRenameCommand if !rename.isView => RenameInGroup(rename)

    case drop: DropTableCommand if !drop.isView => DropFromGroup(drop)

    case _ => plan
  }

  private def isOnlyDeltas(table: CatalogTable): Boolean =
    RangeProperties.declares(namedIn(table)) || RowModels().declaredBy(table.properties).isDefined

  private def refuse(table: CatalogTable): Nothing = {
    val name = table.identifier.copy(catalog = None).unquotedString
    val format = table.provider.getOrElse("hive")
    RowModels().refuseFormat(name, table.properties, format)
    RangeProperties.refuseFormat(name, format)
  }

  private def mentions(table: CatalogTable): Boolean =
    GroupProperties.mentions(namedIn(table))

  /** Keys of TBLPROPERTIES, and of OPTIONS or a writer's options, which may name a property, too. */
  private def namedIn(table: CatalogTable): Iterable[String] = table.properties.keys ++ table.storage.properties.keys

  /** The table with the location that it will have; a database that does not exist is the command's own error. */
  private def located(table: CatalogTable): CatalogTable = Try {
    val folder = NativeTable.location(session, table).map(CatalogUtils.stringToURI)
    table.copy(identifier = NativeTable.name(session, table), storage = table.storage.copy(locationUri = folder))
  }.getOrElse(table)

  private def normal(command: RunnableCommand): RunnableCommand = command match {
    case ctas: CreateDataSourceTableAsSelectCommand => ctas.copy(table = normal(ctas.table))
    case other => other
  }

  /** `df.write.option("colocate_with", ..)` and OPTIONS (..) leave the property among the storage's options. */
  private def normal(table: CatalogTable): CatalogTable = {
    val options = table.storage.properties
    table.copy(
      properties = GroupProperties.normal(options.filter(o => GroupProperties.mentions(Seq(o._1))) ++ table.properties),
      storage = table.storage.copy(properties = GroupProperties.without(options)))
  }
}
