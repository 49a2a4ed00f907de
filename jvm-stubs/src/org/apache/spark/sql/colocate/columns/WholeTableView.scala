package org.apache.spark.sql.colocate.columns

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Cast, Expression, ExprId, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical._

/**
 * A temporary view that shows the columns of a table with a hidden column under their own names, in their own order and
 * nothing else, as `SELECT * FROM t` does. Delta writes through such views of plain tables; of a table with a generated
 * column it refuses to, because the view lacks that column.
 */
private[columns] object WholeTableView {

  /** The table under the view's name, and what each column of the view is of it. None for all other targets. */
  def unapply(target: LogicalPlan): Option[(LogicalPlan, Map[ExprId, Attribute])] = target match {
    case SubqueryAlias(name, child) if child.resolved && child.exists(_.isInstanceOf[View]) =>
      shown(child).map { case (table, columns) =>
        (SubqueryAlias(name, table), child.output.map(_.exprId).zip(columns).toMap)
      }
    case _ => None
  }

  /** The table below, and its columns, one for each of the plan's. */
  private def shown(plan: LogicalPlan): Option[(OverBucketColumn, Seq[Attribute])] = plan match {
    case table: VisibleColumns => Some((table, table.output))
    case SubqueryAlias(_, child) => shown(child)
    case view: View if view.isTempView => shown(view.child)
    case Project(list, child) =>
      shown(child).filter { case (_, columns) => sameColumns(list, child.output, columns) }
    case _ => None
  }

  private def sameColumns(list: Seq[NamedExpression], below: Seq[Attribute], columns: Seq[Attribute]): Boolean =
    list.size == columns.size && list.indices.forall { i =>
      list(i).name == columns(i).name && isColumn(list(i), below(i))
    }

  /** A view casts each column to the type that it had when the view was made. */
  private def isColumn(shown: Expression, column: Attribute): Boolean = shown match {
    case attribute: Attribute => attribute.exprId == column.exprId
    case Alias(child, _) => isColumn(child, column)
    case cast: Cast => cast.dataType == column.dataType && isColumn(cast.child, column)
    case _ => false
  }
}
