package org.apache.spark.sql.colocate.rules

import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.{FileSourceScanExec, SparkPlan}

/**
 * Tags on a plan's nodes that name the rules that failed when it was planned. EXPLAIN reads them.
 */
object FailedRules {

  private val Failed = TreeNodeTag[Seq[String]]("colocate.failedRules")
  private val Unbucketed = TreeNodeTag[String]("colocate.unbucketedByFailure")

  /** Without one of these, the plan may keep an Exchange that the rule would have removed. */
  private val RemoveExchanges =
    Set("PlanColocatedScans", "PlanExpands", "PlanFullOuterJoins", "AlignJoinSides", "DropExchangeOnNullExtendedKeys")

  /** Marks the root and the leaves: when AQE plans again, it makes the nodes above a finished stage anew. */
  def mark(plan: SparkPlan, rule: String): SparkPlan = {
    (PlanWalk.unwrap(plan) +: plan.collectLeaves()).foreach { node =>
      node.setTagValue(Failed, (node.getTagValue(Failed).getOrElse(Nil) :+ rule).distinct)
    }
    plan
  }

  /** Marks the scans of a plan as ordinary ones because the rule failed. */
  def markUnbucketed(plan: SparkPlan, rule: String): SparkPlan = {
    plan.foreach { case scan: FileSourceScanExec => scan.setTagValue(Unbucketed, rule); case _ => }
    mark(plan, rule)
  }

  def unbucketedBy(scan: FileSourceScanExec): Option[String] = scan.getTagValue(Unbucketed)

  def in(nodes: Seq[SparkPlan]): Seq[String] = nodes.flatMap(_.getTagValue(Failed)).flatten.distinct

  def mayLeaveExchange(rule: String): Boolean = RemoveExchanges(rule)
}
