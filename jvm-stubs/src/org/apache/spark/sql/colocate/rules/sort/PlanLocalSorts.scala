package org.apache.spark.sql.colocate.rules.sort

import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Sort}
import org.apache.spark.sql.classic.{SparkSession, Strategy}
import org.apache.spark.sql.colocate.rules.Rewrite
import org.apache.spark.sql.colocate.scan.MemberScans
import org.apache.spark.sql.execution.{SortExec, SparkPlan}

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
