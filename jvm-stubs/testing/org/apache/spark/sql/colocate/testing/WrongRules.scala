package org.apache.spark.sql.colocate.testing

import org.apache.spark.sql.catalyst.expressions.{Expression, Or}
import org.apache.spark.sql.catalyst.plans.{FullOuter, Inner, JoinType, LeftAnti, LeftOuter, LeftSemi}
import org.apache.spark.sql.colocate.compat.TestHook
import org.apache.spark.sql.colocate.rules.aggregate.ShareAggregates
import org.apache.spark.sql.colocate.rules.join.SpreadJoins
import org.apache.spark.sql.colocate.rules.scan.{DisableUnnecessaryColocatedScan, DynamicBucketPruning}
import org.apache.spark.sql.colocate.scan.{ColocatedScanExec, ReadMode}
import org.apache.spark.sql.execution.colocate.shuffle.BufferedExchangeExec
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.{FilterExec, SparkPlan}

/** The bugs that a single rule of ours has; after that, the faults of [[FailingRules]]. */
class WrongRules extends TestHook {

  private val isAsking = ThreadLocal.withInitial[Boolean](() => false)

  override def before(rule: String): Unit = {
    Pauses.at(rule)
    FailingRules.before(rule)
  }

  override def after(rule: String, before: SparkPlan, after: SparkPlan): SparkPlan = {
    ChangedPlans.note(rule, before, after)
    FailingRules.after(rule, PlantedBugs.planted.filterNot(_ => isAsking.get)
      .fold(after)(wrong(_, rule, before, after)))
  }

  override def hides(hook: String): Boolean = HiddenHooks.names.contains(hook)

  override def drops(rule: String): Boolean = DroppedRules.names.contains(rule)

  private def wrong(bug: String, rule: String, before: SparkPlan, after: SparkPlan): SparkPlan = (bug, rule) match {
    case ("full_outer_split", "SpreadJoins") => taking(before) { case FullOuter => Inner }(spread)
    case ("extended_side_split", "SpreadJoins") => taking(before) { case one if one != FullOuter => Inner }(spread)
    case ("both_sides_split", "SpreadJoins") => after.transformUp { case scan: ColocatedScanExec => inParts(scan) }
    case ("preserved_side_pruned", "DisableUnnecessaryColocatedScan") =>
      taking(before)(pruning)(DisableUnnecessaryColocatedScan(_))
    case ("preserved_side_pruned", "DynamicBucketPruning") => taking(before)(pruning)(DynamicBucketPruning(_))
    case ("shared_groups_lost", "ShareAggregates") => after.transformUp {
      case shuffle @ ShuffleExchangeExec(_, FilterExec(condition, groups), _, _) if ShareAggregates.isShared(shuffle) =>
        shuffle.withNewChildren(Seq(FilterExec(ofFirstUse(condition), groups)))
    }
    case ("kept_rows_lost", "BufferShuffledRows") => after.transformUp {
      case exchange: BufferedExchangeExec => LosingExchange.of(exchange)
    }
    case _ => after
  }

  /** What a rule makes of a plan if it takes joins for others. */
  private def taking(plan: SparkPlan)(other: PartialFunction[JoinType, JoinType])(
      rule: SparkPlan => SparkPlan): SparkPlan = {
    isAsking.set(true) // rules may call others
    try OtherJoins.back(rule(OtherJoins.of(plan)(other)))
    finally isAsking.set(false)
  }

  private def spread(plan: SparkPlan): SparkPlan = SpreadJoins(plan.session)(plan)

  private val pruning: PartialFunction[JoinType, JoinType] = { case LeftOuter => Inner; case LeftAnti => LeftSemi }

  private def inParts(scan: ColocatedScanExec): ColocatedScanExec = scan.mode match {
    case ReadMode.ByShare(shares, _) => scan.copy(mode = ReadMode.ByShare(shares, split = true))
    case _ => scan
  }

  private def ofFirstUse(condition: Expression): Expression = condition match {
    case Or(first, _) => ofFirstUse(first)
    case one => one
  }
}
