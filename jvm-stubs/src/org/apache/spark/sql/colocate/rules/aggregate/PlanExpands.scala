package org.apache.spark.sql.colocate.rules.aggregate

import org.apache.spark.sql.catalyst.plans.logical.{Expand, LogicalPlan}
import org.apache.spark.sql.classic.{SparkSession, Strategy}
import org.apache.spark.sql.colocate.rules.{Rewrite, RuleTable}
import org.apache.spark.sql.colocate.scan.MemberScans
import org.apache.spark.sql.execution.SparkPlan

/**
 * Matches: an Expand (grouping sets, several DISTINCTs) of a query that may read members.
 * Produces: an [[ExpandWithinBuckets]], so that an aggregate above it on the bucket key needs no shuffle.
 * Not when: no member is below: Spark's own plan stays.
 */
case class PlanExpands(session: SparkSession) extends Strategy {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case expand: Expand if RuleTable.isActive("PlanExpands") =>
      Rewrite.strategy("PlanExpands", session, this, expand)(planned(expand))
    case _ => Nil
  }

  private def planned(expand: Expand): Seq[SparkPlan] =
    if (!MemberScans.concernsPlan(session, expand)) Nil
    else new ExpandWithinBuckets(expand.projections, expand.output, planLater(expand.child)) :: Nil
}
