package org.apache.spark.sql.colocate.rules.sort

import org.apache.spark.sql.catalyst.expressions.SortOrder
import org.apache.spark.sql.colocate.rules.PlanningNode
import org.apache.spark.sql.execution.SparkPlan

/**
 * Requires the order within tasks that a query or a write needs. Spark removes the sort of a SORT BY, or of a
 * write by partitions, above a merge join that gives this order anyway. Our rules may turn that join into a hash join;
 * without this node nothing would require the order any more: rows came unsorted, and a writer met a partition twice.
 * The node is removed before the query runs.
 */
case class KeepOrderExec(order: Seq[SortOrder], child: SparkPlan) extends PlanningNode {
  override def requiredChildOrdering: Seq[Seq[SortOrder]] = Seq(order)
  override protected def withNewChildInternal(newChild: SparkPlan): KeepOrderExec = copy(child = newChild)
}
