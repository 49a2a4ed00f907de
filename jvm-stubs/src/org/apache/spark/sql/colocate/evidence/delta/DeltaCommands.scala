package org.apache.spark.sql.colocate.evidence.delta

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.colocate.compat.delta.{CommandParts, DeltaClasses, DeltaCopy, DeltaRestore}
import org.apache.spark.sql.colocate.compat.hooks.{DeltaHooks, SelfCheck}
import org.apache.spark.sql.connector.catalog.TableChange

/** Delta's commands that make, restore or convert a table, refused where what they do to a member can't be told. */
private[colocate] object DeltaCommands {

  /** CREATE TABLE LIKE and CLONE. */
  def copy(plan: LogicalPlan): Option[DeltaCopy] =
    if (isOne(plan, DeltaClasses.CreateTable)) CommandParts.copy(plan) else None

  def restore(plan: LogicalPlan): Option[DeltaRestore] =
    if (isOne(plan, DeltaClasses.Restore)) CommandParts.restore(plan) else None

  /** The table that CONVERT TO DELTA names. */
  def converted(plan: LogicalPlan): Option[TableIdentifier] =
    if (isOne(plan, DeltaClasses.Convert)) CommandParts.converted(plan) else None

  /** The conditions by which OPTIMIZE chooses files, for the words of an error alone; none of another plan. */
  def conditionsOfOptimize(plan: LogicalPlan): Seq[String] =
    if (SelfCheck.has(DeltaHooks.Commands)) CommandParts.conditionsOfOptimize(plan) else Nil

  /** The table feature that `ALTER TABLE ... DROP FEATURE` names. */
  def droppedFeature(change: TableChange): Option[String] =
    if (isOne(change, DeltaClasses.DropFeature)) CommandParts.droppedFeature(change) else None

  private def isOne(value: AnyRef, name: String): Boolean = {
    val found = DeltaClasses.is(value, name)
    if (found) SelfCheck.require("the table of this statement", DeltaHooks.Commands)
    found
  }
}
