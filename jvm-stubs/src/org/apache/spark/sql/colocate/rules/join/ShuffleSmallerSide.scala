package org.apache.spark.sql.colocate.rules.join

import org.apache.spark.sql.catalyst.plans.physical.ClusteredDistribution
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.{Exchange, ShuffleExchangeExec}
import org.apache.spark.sql.execution.joins.ShuffledJoin

/**
 * If one side of a join is bucketed and the other one already has more tasks (an aggregate above a shuffle),
 * EnsureRequirements keeps the side with more tasks and shuffles the bucketed one. This shuffles the side with fewer
 * expected bytes, into the buckets of the other. None if that needs more Exchanges.
 */
private[colocate] object ShuffleSmallerSide extends (ShuffledJoin => Option[SparkPlan]) {

  override def apply(join: ShuffledJoin): Option[SparkPlan] = keep(join, member = 0).orElse(keep(join, member = 1))

  /** The join with the member's Exchange gone and one put over the other side. */
  private def keep(join: ShuffledJoin, member: Int): Option[SparkPlan] = {
    val other = JoinSides.unsorted(join.children(1 - member))
    (join.requiredChildDistribution(member), join.requiredChildDistribution(1 - member)) match {
      case (mine: ClusteredDistribution, theirs: ClusteredDistribution) if !other.isInstanceOf[Exchange] =>
        for {
          plan <- JoinSides.belowExchange(join.children(member))
          layout <- JoinSides.layoutFor(plan, mine)
          spec = layout.createShuffleSpec(mine)
          if spec.canCreatePartitioning && isSmaller(other, plan)
          shuffled = ShuffleExchangeExec(spec.createPartitioning(theirs.clustering), other)
          (left, right) = if (member == 0) (plan, shuffled) else (shuffled, plan)
          ensured = JoinSides.ensure(join, left, right)
          if JoinSides.exchanges(ensured) <= JoinSides.exchanges(join)
        } yield ensured
      case _ => None
    }
  }

  /** Is `a` smaller by the optimizer's statistics? */
  private def isSmaller(a: SparkPlan, b: SparkPlan): Boolean =
    a.logicalLink.zip(b.logicalLink).exists { case (left, right) => left.stats.sizeInBytes < right.stats.sizeInBytes }
}
