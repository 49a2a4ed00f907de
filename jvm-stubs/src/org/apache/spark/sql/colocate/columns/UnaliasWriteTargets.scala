package org.apache.spark.sql.colocate.columns

import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule

/**
 * Matches: UPDATE, DELETE and MERGE whose target hides its bucket column, for example through a temporary view.
 * Produces: the same command on the table itself, which Delta's rules look for.
 * Not when: the target is the table already.
 */
object UnaliasWriteTargets extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case delete: DeleteFromTable if hides(delete.table) => delete.copy(table = bare(delete.table))
    case update: UpdateTable if hides(update.table) => update.copy(table = bare(update.table))
    case merge: MergeIntoTable if hides(merge.targetTable) => merge.copy(targetTable = bare(merge.targetTable))
  }

  private def hides(target: LogicalPlan): Boolean = target.exists(_.isInstanceOf[OverBucketColumn])

  private def bare(target: LogicalPlan): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      target.transformUp { case over: OverBucketColumn => over.child }
    }
}
