package org.apache.spark.sql.colocate.rules.aggregate

import org.apache.spark.sql.catalyst.expressions.SortOrder
import org.apache.spark.sql.execution.{SortExec, SparkPlan}

/** For rules that replace an operator whose rows are sorted by one whose rows are not. */
private[colocate] object KeptOrder {

  /** The changed plan, with a sort wherever an operator above relied on the order. */
  def of(plan: SparkPlan)(changed: SparkPlan): SparkPlan =
    if (changed eq plan) plan else changed.transformUp { case one if !hasOrder(one) => sorted(one) }

  private def hasOrder(plan: SparkPlan): Boolean =
    plan.children.zip(plan.requiredChildOrdering).forall { case (child, order) => isOrdered(child, order) }

  private def isOrdered(plan: SparkPlan, order: Seq[SortOrder]): Boolean =
    SortOrder.orderingSatisfies(plan.outputOrdering, order)

  private def sorted(plan: SparkPlan): SparkPlan =
    plan.withNewChildren(plan.children.zip(plan.requiredChildOrdering).map { case (child, order) =>
      if (isOrdered(child, order)) child else SortExec(order, global = false, child)
    })
}
