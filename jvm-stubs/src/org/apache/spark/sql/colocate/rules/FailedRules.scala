package org.apache.spark.sql.colocate.rules

import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.{FileSourceScanExec, SparkPlan}

/** Which rules failed or were excluded while a plan was made, kept on its nodes, so that EXPLAIN can name them. */
object FailedRules {

  private val Failed = TreeNodeTag[Seq[String]]("colocate.failedRules")
  private val Excluded = TreeNodeTag[Seq[String]]("colocate.excludedRules")
  private val Unbucketed = TreeNodeTag[String]("colocate.unbucketedByFailure")

  /** Where one of these fails, an Exchange may be left that it would have removed. */
  private val RemoveExchanges =
    Set("PlanExpands", "PlanFullOuterJoins", "AlignJoinSides", "DropExchangeOnNullExtendedKeys")

  /** Scans are marked, too: when AQE plans again, what stands above a stage that has run is made anew. */
  def mark(plan: SparkPlan, rule: String): SparkPlan = mark(plan, Failed, rule)

  /** Without the exclusion the rule would have removed an Exchange. */
  def markExcluded(plan: SparkPlan, rule: String): SparkPlan = mark(plan, Excluded, rule)

  private def mark(plan: SparkPlan, tag: TreeNodeTag[Seq[String]], rule: String): SparkPlan = {
    (PlanWalk.unwrap(plan) +: plan.collectLeaves()).foreach { node =>
      node.setTagValue(tag, (node.getTagValue(tag).getOrElse(Nil) :+ rule).distinct)
    }
    plan
  }

  /** The scans are read as ordinary tables because the rule failed. */
  def markUnbucketed(plan: SparkPlan, rule: String): SparkPlan = {
    plan.foreach { case scan: FileSourceScanExec => scan.setTagValue(Unbucketed, rule); case _ => }
    mark(plan, rule)
  }

  def unbucketedBy(scan: FileSourceScanExec): Option[String] = scan.getTagValue(Unbucketed)

  def in(nodes: Seq[SparkPlan]): Seq[String] = nodes.flatMap(_.getTagValue(Failed)).flatten.distinct

  def excludedIn(nodes: Seq[SparkPlan]): Seq[String] = nodes.flatMap(_.getTagValue(Excluded)).flatten.distinct

  def mayLeaveExchange(rule: String): Boolean = RemoveExchanges(rule)
}
