package org.apache.spark.sql.colocate.evidence.delta

import org.apache.spark.sql.catalyst.expressions.{Cast, EvalMode, Expression, PlanExpression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.TreeNode
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.internal.SQLConf.StoreAssignmentPolicy
import org.apache.spark.sql.types.DataType

/** Delta's nodes of UPDATE and MERGE, read and changed by their fields: their classes are unknown to the compiler. */
private[colocate] object DeltaClauses {

  /** The table that a MERGE changes. */
  def target(merge: LogicalPlan): Option[LogicalPlan] =
    merge.productElementNames.zip(merge.productIterator).collectFirst { case ("target", plan: LogicalPlan) => plan }

  def fields(node: TreeNode[_]): Seq[Any] = node.productIterator.toSeq

  def copied[T <: TreeNode[T]](node: T, fields: Seq[Any]): T =
    node.makeCopy(fields.map(_.asInstanceOf[AnyRef]).toArray)

  /** A MERGE with other values in its clauses. `change` has the values of one clause by column, and gives new ones. */
  def changed(merge: LogicalPlan)(change: Map[String, Expression] => Map[String, Expression]): LogicalPlan =
    merge.mapExpressions {
      case clause if clause.nodeName.endsWith("UpdateClause") || clause.nodeName.endsWith("InsertClause") =>
        fields(clause) match {
          case Seq(condition, actions: Seq[_]) =>
            val changes = change(actions.flatMap(assigned(_)).toMap)
            copied(clause, Seq(condition, if (changes.isEmpty) actions else actions.map(withValue(_, changes))))
          case _ => clause
        }
      case other => other
    }

  /** The column that an action of a clause sets, and its value. None for a field of a struct. */
  private def assigned(action: Any): Option[(String, Expression)] = action match {
    case node: Expression => fields(node) match {
        case Seq(Seq(name: String), value: Expression, _*) => Some(name -> value)
        case _ => None
      }
    case _ => None
  }

  private def withValue(action: Any, changes: Map[String, Expression]): Any = (action, assigned(action)) match {
    case (node: Expression, Some((name, _))) if changes.contains(name) =>
      copied(node, fields(node).updated(1, changes(name)))
    case _ => action
  }

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
