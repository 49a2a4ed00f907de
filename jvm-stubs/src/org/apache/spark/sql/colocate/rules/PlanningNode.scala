package org.apache.spark.sql.colocate.rules

import org.apache.spark.sql.catalyst.plans.physical.{Partitioning, UnknownPartitioning}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.colocate.PassesRows
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan, UnionExec}

/**
 * A node that declares a requirement or a partitioning while the plan is made, and is removed before the query runs.
 */
trait PlanningNode extends PassesRows

/**
 * Keeps the partitioning that a union was planned with: UnionExec computes its partitioning anew when it runs, and by
 * then the planning nodes that declared it are removed.
 */
case class PinnedPartitioningExec(override val outputPartitioning: Partitioning, child: SparkPlan) extends PassesRows {
  override protected def withNewChildInternal(newChild: SparkPlan): PinnedPartitioningExec = copy(child = newChild)
}

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
