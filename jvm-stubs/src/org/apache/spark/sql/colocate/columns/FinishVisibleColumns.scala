package org.apache.spark.sql.colocate.columns

import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule

/**
 * Matches: nodes that hide columns, after analysis, also in subqueries.
 * Produces: ordinary projections, so that plans, cached plans and metrics look as usual.
 * Not when: the plan reads no Delta table with hidden columns.
 */
object FinishVisibleColumns extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    val finished = plan.transformWithSubqueries {
      case visible: VisibleColumns => Project(visible.output, visible.child)
      case AllColumns(child) => child
    }
    if (finished ne plan) RefuseStaleSchema(finished)
    finished
  }
}
