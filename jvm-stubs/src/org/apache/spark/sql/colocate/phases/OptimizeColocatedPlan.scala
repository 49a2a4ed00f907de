package org.apache.spark.sql.colocate.phases

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.parts.Part
import org.apache.spark.sql.colocate.rules.scan.DynamicBucketPruning
import org.apache.spark.sql.colocate.rules.{OnAnyPlan, Rewrite}
import org.apache.spark.sql.colocate.scan.{ColocatedScanExec, ExchangeFreeSubtrees}
import org.apache.spark.sql.execution.adaptive.{AdaptiveSparkPlanExec, QueryStageExec}
import org.apache.spark.sql.execution.exchange.{Exchange, ValidateRequirements}
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan, UnionExec}

/**
 * Matches: a whole plan after EnsureRequirements. Adaptive execution plans again after every stage, so each rule must
 * leave its own result unchanged.
 * Produces: the plan after the rules of the phase `preparation`, in the order of conf/rules.json. If a rule that is
 * only for speed fails, or its result does not pass Spark's ValidateRequirements, the plan stays as it was before that
 * rule.
 * Not when: no scan reads buckets. Then only two kinds of rules run: [[OnAnyPlan]], and on a plan with a union those
 * that right rows need, because the union may read cached buckets.
 */
case class OptimizeColocatedPlan(session: SparkSession) extends Rule[SparkPlan] {

  // The phase begins with rules that right rows need: they run before any rule for speed relies on buckets.
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

  /**
   * Marks the root of a plan that has been optimized and reads buckets. OptimizeWithoutAqe needs it for a plan without
   * an Exchange: such a plan has no query stage by which `isFragment` would see that AQE has planned it.
   */
  private val Done = TreeNodeTag[Unit]("colocate.optimized")

  def isDone(plan: SparkPlan): Boolean = plan.getTagValue(Done).isDefined

  private def done(plan: SparkPlan): SparkPlan = {
    plan.setTagValue(Done, ())
    plan
  }
}

/**
 * Matches: a plan without adaptive execution.
 * Produces: the plan after OptimizeColocatedPlan, and after the columnar transitions DynamicBucketPruning and
 * DynamicRangePruning.
 * Not when: adaptive execution plans it, or a part of it.
 */
case class OptimizeWithoutAqe(session: SparkSession) extends ColumnarRule {
  private val optimize = OptimizeColocatedPlan(session)
  private val prune: Rule[SparkPlan] =
    Part.all.flatMap(_.pruningWithoutAqe).headOption.fold[Rule[SparkPlan]](DynamicBucketPruning)(_(session))

  override def preColumnarTransitions: Rule[SparkPlan] =
    plan => if (OptimizeColocatedPlan.isDone(plan) || isFragment(plan)) plan else optimize(plan)

  override def postColumnarTransitions: Rule[SparkPlan] =
    plan => if (isFragment(plan)) plan else prune(plan)

  // With AQE, a plan with an Exchange on top is a query stage. Without AQE, it ends in a repartition, as MERGE's write
  // does.
  private[colocate] def isFragment(plan: SparkPlan): Boolean =
    (plan.isInstanceOf[Exchange] && session.sessionState.conf.adaptiveExecutionEnabled) || plan.exists {
      case _: AdaptiveSparkPlanExec | _: QueryStageExec => true
      case _ => false
    }
}
