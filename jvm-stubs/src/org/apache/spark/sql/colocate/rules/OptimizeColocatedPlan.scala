package org.apache.spark.sql.colocate.rules

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.rules.scan.DynamicBucketPruning
import org.apache.spark.sql.colocate.scan.ColocatedScanExec
import org.apache.spark.sql.execution.adaptive.{AdaptiveSparkPlanExec, QueryStageExec}
import org.apache.spark.sql.execution.exchange.{Exchange, ValidateRequirements}
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan, UnionExec}

/**
 * A preparation rule that also runs for plans without a scan by buckets: for writes, and when the stages that read have
 * run.
 */
trait OnAnyPlan { this: Rule[SparkPlan] =>

  /**
   * Is its result checked by Spark's ValidateRequirements? Not needed if only the way in which rows are shuffled
   * changes.
   */
  def changesLayout: Boolean
}

/**
 * Matches: a whole plan after EnsureRequirements. Adaptive execution plans again after every stage, so each rule must
 * change nothing in its own result.
 * Produces: the plan after each rule of the phase `preparation`, in the order of conf/rules.json. What a rule makes
 * must satisfy Spark's own ValidateRequirements, else the plan stays as it was before that rule, as it does when it
 * fails.
 * Not when: no scan reads buckets; then only the rules [[OnAnyPlan]] run.
 */
case class OptimizeColocatedPlan(session: SparkSession) extends Rule[SparkPlan] {

  // The first rules keep the rows right; they run before any other rule relies on buckets.
  private val (forRows, others) = Rules.preparation(session).span { case (entry, _) => entry.needed == "rows" }

  override def apply(plan: SparkPlan): SparkPlan =
    if (!plan.exists(_.isInstanceOf[ColocatedScanExec])) optimize(plan, plan, readsBuckets = false)
    else {
      val safe = forRows.foldLeft(plan) { case (p, (entry, rule)) => Rewrite.forRows(entry.name, p, p)(rule(_)) }
      OptimizeColocatedPlan.done(optimize(safe, safe, readsBuckets = true))
    }

  /** safe: the plan before any rule relied on its buckets. */
  private def optimize(plan: SparkPlan, safe: SparkPlan, readsBuckets: Boolean): SparkPlan =
    others.foldLeft(plan) {
      case (p, (entry, rule)) if entry.needed == "rows" =>
        if (p.exists(_.isInstanceOf[UnionExec])) Rewrite.forRows(entry.name, p, safe)(rule(_)) else p
      case (p, (entry, rule: OnAnyPlan)) =>
        Rewrite(entry.name, p, if (rule.changesLayout) isValid else _ => true)(rule(_))
      case (p, (entry, rule)) => if (readsBuckets) Rewrite(entry.name, p, isValid)(rule(_)) else p
    }

  private def isValid(plan: SparkPlan): Boolean =
    ValidateRequirements.validate(plan) && ExchangeFreeSubtrees.aligned(plan)
}

object OptimizeColocatedPlan {

  /** On the root of a plan that reads buckets. A plan without any Exchange goes through AQE as a whole. */
  private val Done = TreeNodeTag[Unit]("colocate.optimized")

  def isDone(plan: SparkPlan): Boolean = plan.getTagValue(Done).isDefined

  private def done(plan: SparkPlan): SparkPlan = {
    plan.setTagValue(Done, ())
    plan
  }
}

/**
 * Matches: a plan without adaptive execution.
 * Produces: what OptimizeColocatedPlan and DynamicBucketPruning make of it.
 * Not when: adaptive execution has optimized the plan, or the plan is one of its fragments.
 */
case class OptimizeWithoutAqe(session: SparkSession) extends ColumnarRule {
  private val optimize = OptimizeColocatedPlan(session)

  override def preColumnarTransitions: Rule[SparkPlan] =
    plan => if (OptimizeColocatedPlan.isDone(plan) || isFragment(plan)) plan else optimize(plan)

  override def postColumnarTransitions: Rule[SparkPlan] =
    plan => if (isFragment(plan)) plan else DynamicBucketPruning(plan)

  // An Exchange on top is AQE's stage; without AQE it is a plan that ends in a repartition, as MERGE's write does.
  private[colocate] def isFragment(plan: SparkPlan): Boolean =
    (plan.isInstanceOf[Exchange] && session.sessionState.conf.adaptiveExecutionEnabled) || plan.exists {
      case _: AdaptiveSparkPlanExec | _: QueryStageExec => true
      case _ => false
    }
}
