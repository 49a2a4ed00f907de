package org.apache.spark.sql.colocate.rules

import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.colocate.PassesRows
import org.apache.spark.sql.execution.SparkPlan

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
