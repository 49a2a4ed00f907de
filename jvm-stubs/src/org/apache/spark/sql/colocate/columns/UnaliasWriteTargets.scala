package org.apache.spark.sql.colocate.columns

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, ExprId}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule

/**
 * Matches: UPDATE, DELETE and MERGE whose target hides its bucket column, also through a temporary view of the table.
 * Produces: the same command on the table itself, which Delta's rules look for.
 * Not when: the target is the table already, or a view that is more than `SELECT * FROM t`: Delta takes or refuses it.
 */
object UnaliasWriteTargets extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case delete: DeleteFromTable => onTable(delete, delete.table)(table => delete.copy(table = table))
    case update: UpdateTable => onTable(update, update.table)(table => update.copy(table = table))
    case merge: MergeIntoTable => onTable(merge, merge.targetTable)(table => merge.copy(targetTable = table))
  }

  private def onTable(command: LogicalPlan, target: LogicalPlan)(on: LogicalPlan => LogicalPlan): LogicalPlan =
    target match {
      case WholeTableView(table, columns) => ofTable(on(bare(table)), columns)
      case _ if hides(target) => on(bare(target))
      case _ => command
    }

  private def hides(target: LogicalPlan): Boolean = target.exists(_.isInstanceOf[OverBucketColumn])

  private def bare(target: LogicalPlan): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      target.transformUp { case over: OverBucketColumn => over.child }
    }

  /** What the command says of columns of a view, of those of the table. */
  private def ofTable(command: LogicalPlan, columns: Map[ExprId, Attribute]): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      command.transformExpressions {
        case column: AttributeReference if columns.contains(column.exprId) =>
          columns(column.exprId).withQualifier(column.qualifier)
      }
    }
}
