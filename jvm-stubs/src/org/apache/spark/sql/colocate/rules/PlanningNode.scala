package org.apache.spark.sql.colocate.rules

import org.apache.spark.sql.catalyst.plans.physical.{Partitioning, UnknownPartitioning}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.colocate.PassesRows
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan, UnionExec}

/** A node that asks or tells something while the plan is made, and is gone when the query runs. */
trait PlanningNode extends PassesRows

/** What a planning node below told, kept for who asks again when the query runs. */
case class PinnedPartitioningExec(override val outputPartitioning: Partitioning, child: SparkPlan) extends PassesRows {
  override protected def withNewChildInternal(newChild: SparkPlan): PinnedPartitioningExec = copy(child = newChild)
}

/**
 * A union decides by its children's partitionings whether it zips their tasks, and does so anew when it runs: by then it
 * must find what it was planned upon, else its rows lie in more tasks than the operator above believes.
 */
object DropPlanningNodes extends ColumnarRule {
  // Those that stay pass their rows on.
  override def postColumnarTransitions: Rule[SparkPlan] = Rewrite("DropPlanningNodes", _)(keepForUnions(_).transformUp {
    case node: PlanningNode => node.child
  })

  private def keepForUnions(plan: SparkPlan): SparkPlan = plan.transformUp {
    case union: UnionExec if !union.outputPartitioning.isInstanceOf[UnknownPartitioning] =>
      union.copy(children = union.children.map { child =>
        if (child.exists(_.isInstanceOf[PlanningNode])) PinnedPartitioningExec(child.outputPartitioning, child) else child
      })
  }
}
