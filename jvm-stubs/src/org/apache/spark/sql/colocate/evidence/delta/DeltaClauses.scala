package org.apache.spark.sql.colocate.evidence.delta

import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.expressions.{Attribute, Cast, EvalMode, Expression, PlanExpression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.colocate.compat.delta.{ChangeClauses, SetColumns}
import org.apache.spark.sql.colocate.compat.hooks.{DeltaHooks, SelfCheck}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.internal.SQLConf.StoreAssignmentPolicy
import org.apache.spark.sql.types.DataType

/** What Delta's nodes and commands of UPDATE, DELETE and MERGE set, in sessions with Delta and without. */
private[colocate] object DeltaClauses {

  private def isKnown: Boolean = SelfCheck.has(DeltaHooks.Clauses)

  /** The table that Delta's command of MERGE changes. */
  def target(merge: LogicalPlan): Option[LogicalPlan] = {
    SelfCheck.require("the table of this MERGE", DeltaHooks.Clauses)
    ChangeClauses.target(merge)
  }

  /** The entry in the catalog of the table that a command changes. */
  def tableOf(command: LogicalPlan): Option[CatalogTable] = if (isKnown) ChangeClauses.tableOf(command) else None

  /** What Delta's node of UPDATE sets; None for another plan. */
  def update(plan: LogicalPlan): Option[SetColumns] = if (isKnown) ChangeClauses.update(plan) else None

  /** An UPDATE that sets one more column. */
  def withColumn(update: LogicalPlan, column: Attribute, value: Expression): LogicalPlan =
    ChangeClauses.withColumn(update, column, value)

  /** The table of Delta's node of MERGE, and what its clauses set; None for another plan. */
  def merge(plan: LogicalPlan): Option[(LogicalPlan, Seq[(String, Expression)])] =
    if (isKnown) ChangeClauses.merge(plan) else None

  /** A MERGE with other values in its clauses. `change` has the values of one clause by column, and gives new ones. */
  def changed(merge: LogicalPlan)(change: Map[String, Expression] => Map[String, Expression]): LogicalPlan =
    ChangeClauses.changed(merge)(change)

  /** The value as it will be stored, or null where it can't be: then Delta says so. */
  def stored(value: Expression, dataType: DataType): Option[Expression] = {
    val zone = Some(SQLConf.get.sessionLocalTimeZone)
    val wraps = SQLConf.get.storeAssignmentPolicy == StoreAssignmentPolicy.LEGACY
    if (value.dataType == dataType) Some(value)
    else if (wraps) Option.when(Cast.canCast(value.dataType, dataType))(Cast(value, dataType, zone, EvalMode.LEGACY))
    else Option.when(Cast.canTryCast(value.dataType, dataType))(Cast(value, dataType, zone, EvalMode.TRY))
  }

  /** May the value be computed twice? */
  def isRepeatable(value: Expression): Boolean =
    value.deterministic && !value.exists(_.isInstanceOf[PlanExpression[_]])
}
