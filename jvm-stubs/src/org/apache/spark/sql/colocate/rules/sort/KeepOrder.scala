package org.apache.spark.sql.colocate.rules.sort

import org.apache.spark.sql.catalyst.expressions.SortOrder
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Sort}
import org.apache.spark.sql.classic.{SparkSession, Strategy}
import org.apache.spark.sql.colocate.rules.scan.PlanColocatedScans
import org.apache.spark.sql.colocate.rules.{PlanningNode, Rewrite}
import org.apache.spark.sql.execution.{SortExec, SparkPlan}

/**
 * The order within tasks that a query or a write asks for, as a requirement. Spark removes the sort of a SORT BY, or of a
 * write by partitions, over a merge join that gives this order anyway; then our rules turn that join into a hash join,
 * and nothing would ask for the order any more: rows came unsorted, and a writer met a partition twice. It is gone when
 * the query runs.
 */
case class KeepOrderExec(order: Seq[SortOrder], child: SparkPlan) extends PlanningNode {
  override def requiredChildOrdering: Seq[Seq[SortOrder]] = Seq(order)
  override protected def withNewChildInternal(newChild: SparkPlan): KeepOrderExec = copy(child = newChild)
}

/** Only where members may be below: everything else has Spark's own plan. A global sort has a shuffle below it that Spark never removes. */
case class PlanLocalSorts(session: SparkSession) extends Strategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case Sort(order, false, child, _) if mayReadBuckets(child) =>
      KeepOrderExec(order, SortExec(order, global = false, planLater(child))) :: Nil
    case _ => Nil
  }

  // To keep an order is right for every plan.
  private def mayReadBuckets(plan: LogicalPlan): Boolean =
    Rewrite.orElse("PlanLocalSorts", without = true)(PlanColocatedScans.concernsPlan(session, plan))
}
