package org.apache.spark.sql.colocate.plan

import org.apache.spark.sql.catalyst.plans.physical.{BroadcastDistribution, Distribution, UnspecifiedDistribution}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.Exchange

/**
 * A bucketed scan that removes no Exchange only costs parallelism (SPARK-38207, Paimon #10076): the ordinary scan
 * comes back wherever no operator above, up to the next Exchange, asks for a distribution (design D10).
 */
object KeepOrdinaryScans extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan = walk(plan, needed = false)

  private def walk(plan: SparkPlan, needed: Boolean): SparkPlan = plan match {
    case scan: ColocatedScanExec => if (needed || scan.mode == ReadMode.ByBytes) scan else scan.ordinary
    case exchange: Exchange => exchange.mapChildren(walk(_, needed = false))
    case _ if plan.children.isEmpty => plan
    case _ =>
      val required = plan.children.zip(plan.requiredChildDistribution)
      val walked = required.map { case (child, distribution) => walk(child, needed || asksFor(distribution)) }
      if (walked.zip(plan.children).forall { case (a, b) => a eq b }) plan else plan.withNewChildren(walked)
  }

  private def asksFor(distribution: Distribution): Boolean = distribution match {
    case UnspecifiedDistribution | _: BroadcastDistribution => false
    case _ => true
  }
}
