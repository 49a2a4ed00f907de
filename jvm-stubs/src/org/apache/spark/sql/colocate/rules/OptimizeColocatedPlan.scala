package org.apache.spark.sql.colocate.rules

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.rules.aggregate.{MergeAdjacentAggregates, ShareAggregates, ShuffleUnevenAggregates}
import org.apache.spark.sql.colocate.rules.join.{CoalesceBucketsInJoin, DropExchangeOnNullExtendedKeys, HashWithinBuckets, ShuffleSmallerSide, SpreadJoins}
import org.apache.spark.sql.colocate.rules.scan.{DisableUnnecessaryColocatedScan, DynamicBucketPruning, ReadSmallBucketsTogether}
import org.apache.spark.sql.colocate.rules.semantics.{DisambiguateMergeRowIds, KeepFileNames, KeepTaskDependentValues, ZipUnions}
import org.apache.spark.sql.colocate.rules.sort.{ReadOnceForSort, SortFewRows}
import org.apache.spark.sql.colocate.scan.ColocatedScanExec
import org.apache.spark.sql.colocate.write.merge.{GatherFewRows, GroupWithinTask, WriteWithinBuckets}
import org.apache.spark.sql.execution.adaptive.{AdaptiveSparkPlanExec, QueryStageExec}
import org.apache.spark.sql.execution.exchange.{Exchange, ValidateRequirements}
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan, UnionExec}

/**
 * What can be judged only on the whole plan, after EnsureRequirements: which scans need not be bucketed, which joins
 * may hash, which aggregates are one. Registered twice (AQE's preparation rules; the columnar hook without AQE) and
 * idempotent, because AQE plans again after every stage. What each step makes must satisfy Spark's own
 * ValidateRequirements, else the plan stays as it was before that step, as it does when the step fails.
 */
case class OptimizeColocatedPlan(session: SparkSession) extends Rule[SparkPlan] {

  /** Not for speed: without them a plan that reads buckets could give other rows than Spark's. */
  private val forRows: Seq[Rule[SparkPlan]] = Seq(KeepFileNames, KeepTaskDependentValues, DisambiguateMergeRowIds)

  private val steps: Seq[Rule[SparkPlan]] =
    Seq(
      ReplanAncestors(CoalesceBucketsInJoin(session)),
      ReplanAncestors(ShuffleSmallerSide),
      ReplanAncestors(DropExchangeOnNullExtendedKeys),
      GroupWithinTask,
      WriteWithinBuckets,
      DisableUnnecessaryColocatedScan,
      ShuffleUnevenAggregates(session),
      ReadSmallBucketsTogether(session),
      HashWithinBuckets(session),
      MergeAdjacentAggregates,
      SpreadJoins(session),
      GatherFewRows,
      ShareAggregates,
      ReadOnceForSort)

  // When AQE plans again, the stages that have run hide their scans.
  private val afterStages: Seq[Rule[SparkPlan]] = Seq(SortFewRows)

  override def apply(plan: SparkPlan): SparkPlan =
    if (!plan.exists(_.isInstanceOf[ColocatedScanExec])) zipped(tune(plan, afterStages), plan)
    else {
      val untuned = forRows.foldLeft(plan) { (p, rule) => Rewrite.forRows(nameOf(rule), p, p)(rule(_)) }
      done(zipped(tune(untuned, steps ++ afterStages), untuned))
    }

  private def done(plan: SparkPlan): SparkPlan = {
    plan.setTagValue(OptimizeColocatedPlan.Done, ())
    plan
  }

  private def tune(plan: SparkPlan, rules: Seq[Rule[SparkPlan]]): SparkPlan =
    rules.foldLeft(plan)((p, rule) => Rewrite(nameOf(rule), p, isValid)(rule(_)))

  /** Joins of a tuned plan may ask for nothing, so where this fails, the tables are read anew below the untuned one. */
  private def zipped(tuned: SparkPlan, untuned: SparkPlan): SparkPlan =
    if (!tuned.exists(_.isInstanceOf[UnionExec])) tuned else Rewrite.forRows("ZipUnions", tuned, untuned)(ZipUnions(_))

  private def nameOf(rule: Rule[SparkPlan]): String = rule.ruleName.split('.').last

  private def isValid(plan: SparkPlan): Boolean = ValidateRequirements.validate(plan) && ExchangeFreeSubtrees.aligned(plan)
}

object OptimizeColocatedPlan {

  /** On the root of a plan that reads buckets. A plan without any Exchange goes through AQE as a whole. */
  private val Done = TreeNodeTag[Unit]("colocate.tuned")

  def isDone(plan: SparkPlan): Boolean = plan.getTagValue(Done).isDefined
}

/**
 * The same rule without AQE. Under AQE this hook sees plans that are tuned already, or fragments of them, on which
 * nothing whole can be judged.
 */
case class OptimizeWithoutAqe(session: SparkSession) extends ColumnarRule {
  private val tune = OptimizeColocatedPlan(session)

  override def preColumnarTransitions: Rule[SparkPlan] = plan => if (OptimizeColocatedPlan.isDone(plan) || isFragment(plan)) plan else tune(plan)

  override def postColumnarTransitions: Rule[SparkPlan] = plan => if (isFragment(plan)) plan else DynamicBucketPruning(plan)

  // An Exchange on top is AQE's stage; without AQE it is a plan that ends in a repartition, as MERGE's write does.
  private[colocate] def isFragment(plan: SparkPlan): Boolean =
    (plan.isInstanceOf[Exchange] && session.sessionState.conf.adaptiveExecutionEnabled) || plan.exists {
      case _: AdaptiveSparkPlanExec | _: QueryStageExec => true
      case _ => false
    }
}
