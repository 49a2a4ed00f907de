package org.apache.spark.sql.colocate.compat.delta

import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.{CurrentOrigin, TreeNode}
import org.apache.spark.sql.delta.commands.{DeleteCommand, MergeIntoCommand, UpdateCommand}

/** Delta's node of UPDATE: the table, the columns that are set, and their values. */
case class SetColumns(table: LogicalPlan, columns: Seq[Expression], values: Seq[Expression])

/** What UPDATE and MERGE set, in Delta's nodes and commands. */
private[colocate] object ChangeClauses {

  /** The table that Delta's command of MERGE changes. */
  def target(merge: LogicalPlan): Option[LogicalPlan] = merge match {
    case command: MergeIntoCommand => Some(command.target)
    case _ => None
  }

  /** The entry in the catalog of the table that a command changes. */
  def tableOf(command: LogicalPlan): Option[CatalogTable] = command match {
    case delete: DeleteCommand => delete.catalogTable
    case update: UpdateCommand => update.catalogTable
    case merge: MergeIntoCommand => merge.catalogTable
    case _ => None
  }

  def update(plan: LogicalPlan): Option[SetColumns] = plan match {
    case update: DeltaUpdateTable => Some(SetColumns(update.child, update.updateColumns, update.updateExpressions))
    case _ => None
  }

  /** An UPDATE that sets one more column. */
  def withColumn(plan: LogicalPlan, column: Attribute, value: Expression): LogicalPlan = plan match {
    case update: DeltaUpdateTable =>
      instead[LogicalPlan](update)(update.copy(
        updateColumns = update.updateColumns :+ column, updateExpressions = update.updateExpressions :+ value))
    case other => other
  }

  /** The table of a MERGE, and the columns that its clauses set, with their values. None for a field of a struct. */
  def merge(plan: LogicalPlan): Option[(LogicalPlan, Seq[(String, Expression)])] = plan match {
    case merge: DeltaMergeInto =>
      val actions = merge.expressions.flatMap(_.collect { case action: DeltaMergeAction => action })
      Some(merge.target -> actions.flatMap(assigned))
    case _ => None
  }

  /** A MERGE with other values in its clauses. `change` has the values of one clause by column, and gives new ones. */
  def changed(merge: LogicalPlan)(change: Map[String, Expression] => Map[String, Expression]): LogicalPlan = {
    def anew(actions: Seq[Expression]): Seq[Expression] = {
      val changes = change(actions.flatMap(assigned).toMap)
      if (changes.isEmpty) actions else actions.map(withValue(_, changes))
    }
    merge.mapExpressions {
      case update: DeltaMergeIntoMatchedUpdateClause =>
        instead[Expression](update)(update.copy(actions = anew(update.actions)))
      case insert: DeltaMergeIntoNotMatchedInsertClause =>
        instead[Expression](insert)(insert.copy(actions = anew(insert.actions)))
      case update: DeltaMergeIntoNotMatchedBySourceUpdateClause =>
        instead[Expression](update)(update.copy(actions = anew(update.actions)))
      case other => other
    }
  }

  private def assigned(action: Expression): Option[(String, Expression)] = action match {
    case set: DeltaMergeAction if set.targetColNameParts.size == 1 => Some(set.targetColNameParts.head -> set.expr)
    case _ => None
  }

  private def withValue(action: Expression, changes: Map[String, Expression]): Expression = action match {
    case set: DeltaMergeAction =>
      assigned(set).flatMap(found => changes.get(found._1))
        .fold[Expression](set)(value => instead[Expression](set)(set.copy(expr = value)))
    case other => other
  }

  /** Another node in the place of one, for the same text of the statement. */
  private def instead[T <: TreeNode[T]](old: T)(made: => T): T = {
    val node = CurrentOrigin.withOrigin(old.origin)(made)
    node.copyTagsFrom(old)
    node
  }
}
