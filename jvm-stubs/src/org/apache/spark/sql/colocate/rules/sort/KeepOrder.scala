package org.apache.spark.sql.colocate.rules.sort

import org.apache.spark.sql.catalyst.expressions.SortOrder
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Sort}
import org.apache.spark.sql.classic.{SparkSession, Strategy}
import org.apache.spark.sql.colocate.rules.{PlanningNode, Rewrite}
import org.apache.spark.sql.colocate.scan.MemberScans
import org.apache.spark.sql.execution.{SortExec, SparkPlan}

/**
 * The order within tasks that a query or a write needs, as a requirement. Spark removes the sort of a SORT BY, or of a
 * write by partitions, above a merge join that gives this order anyway. Our rules may turn that join into a hash join;
 * without this node nothing would require the order any more: rows came unsorted, and a writer met a partition twice.
 * The node is removed before the query runs.
 */
case class KeepOrderExec(order: Seq[SortOrder], child: SparkPlan) extends PlanningNode {
  override def requiredChildOrdering: Seq[Seq[SortOrder]] = Seq(order)
  override protected def withNewChildInternal(newChild: SparkPlan): KeepOrderExec = copy(child = newChild)
}

/**
 * Matches: a sort within tasks (SORT BY, or the order that a writer needs) of a query that may read members.
 * Produces: the sort below a [[KeepOrderExec]].
 * Not when: no member is below, or the sort is global: that one has a shuffle below it that Spark never removes.
 */
case class PlanLocalSorts(session: SparkSession) extends Strategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case Sort(order, false, child, _) if mayReadBuckets(child) =>
      KeepOrderExec(order, SortExec(order, global = false, planLater(child))) :: Nil
    case _ => Nil
  }

  // If this fails, true is safe: keeping an order is right for every plan.
  private def mayReadBuckets(plan: LogicalPlan): Boolean =
    Rewrite.orElse("PlanLocalSorts", without = true)(MemberScans.concernsPlan(session, plan))
}
