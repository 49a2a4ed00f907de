package org.apache.spark.sql.colocate.rules

import org.apache.spark.sql.catalyst.plans.physical.UnknownPartitioning
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan, UnionExec}

/**
 * Matches: planning nodes, when the plan is complete.
 * Produces: the plan without them. Below a union with a known partitioning a [[PinnedPartitioningExec]] takes their
 * place: the union zips the tasks of its children if their partitionings are equal when it runs, and must come to the
 * same result as in planning, or else its rows lie in more tasks than the operator above expects.
 * Not when: the plan has no such nodes.
 */
object DropPlanningNodes extends ColumnarRule {
  // If this rule fails, the nodes stay, which only pass rows on.
  override def postColumnarTransitions: Rule[SparkPlan] = Rewrite("DropPlanningNodes", _)(keepForUnions(_).transformUp {
    case node: PlanningNode => node.child
  })

  private def keepForUnions(plan: SparkPlan): SparkPlan = plan.transformUp {
    case union: UnionExec if !union.outputPartitioning.isInstanceOf[UnknownPartitioning] =>
      union.copy(children = union.children.map { child =>
        if (child.exists(_.isInstanceOf[PlanningNode])) PinnedPartitioningExec(child.outputPartitioning, child)
        else child
      })
  }
}
