package org.apache.spark.sql.colocate.compat.delta

import org.apache.spark.sql.SaveMode
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.connector.catalog.{Table, TableChange}
import org.apache.spark.sql.delta.commands._
import org.apache.spark.sql.delta.tablefeatures.DropFeature
import org.apache.spark.sql.types.StructType

/**
 * What CREATE TABLE LIKE or CLONE is about to make, by Delta.
 *
 * @param table      the new table's entry in the catalog
 * @param properties all that the new table will have
 * @param typed      those of them that the statement names; only of CLONE
 * @param schema     as in a snapshot: generation expressions included
 */
case class DeltaCopy(
    table: CatalogTable,
    mode: SaveMode,
    properties: Map[String, String],
    typed: Map[String, String],
    schema: StructType,
    isByPath: Boolean,
    isClone: Boolean)

/**
 * What RESTORE makes of a table that has a name.
 *
 * @param restored the table as the version has it: its columns, properties and layout
 */
case class DeltaRestore(table: CatalogTable, restored: Table)

/** Delta's commands that make, restore, convert or rewrite a table. */
private[colocate] object CommandParts {

  /** Only LIKE and CLONE make this command during analysis; the other CREATEs run it inside Delta's catalog. */
  def copy(plan: LogicalPlan): Option[DeltaCopy] = plan match {
    case create: CreateDeltaTableCommand => create.query match {
        case None => Some(like(create))
        case Some(clone: CloneTableCommand) => Some(cloned(create, clone))
        case _ => None
      }
    case _ => None
  }

  private def like(create: CreateDeltaTableCommand): DeltaCopy = {
    val table = create.table
    DeltaCopy(table, create.mode, table.properties, Map.empty, table.schema, create.tableByPath, isClone = false)
  }

  private def cloned(create: CreateDeltaTableCommand, clone: CloneTableCommand): DeltaCopy = {
    val metadata = clone.sourceTable.metadata
    val set = clone.tablePropertyOverrides
    DeltaCopy(
      create.table, create.mode, metadata.configuration ++ set, set, metadata.schema, create.tableByPath,
      isClone = true)
  }

  def restore(plan: LogicalPlan): Option[DeltaRestore] = plan match {
    case restore: RestoreTableCommand => restore.sourceTable.catalogTable.map(DeltaRestore(_, restore.sourceTable))
    case _ => None
  }

  /** The table that CONVERT TO DELTA names. */
  def converted(plan: LogicalPlan): Option[TableIdentifier] = plan match {
    case convert: ConvertToDeltaCommand => Some(convert.tableIdentifier)
    case _ => None
  }

  /** The conditions by which OPTIMIZE chooses files. */
  def conditionsOfOptimize(plan: LogicalPlan): Seq[String] = plan match {
    case optimize: OptimizeTableCommand => optimize.userPartitionPredicates
    case _ => Nil
  }

  /** The table feature that `ALTER TABLE ... DROP FEATURE` names. */
  def droppedFeature(change: TableChange): Option[String] = change match {
    case drop: DropFeature => Some(drop.featureName)
    case _ => None
  }
}
