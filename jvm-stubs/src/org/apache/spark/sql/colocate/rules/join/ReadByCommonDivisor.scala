package org.apache.spark.sql.colocate.rules.join

import org.apache.spark.sql.catalyst.plans.physical.ClusteredDistribution
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.layout.PartitionBuckets
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.joins.ShuffledJoin

/**
 * Joins two sides of different bucket counts by their greatest common divisor g: n buckets can be read as g buckets,
 * because `pmod(h, n) mod g = pmod(h, g)`. None unless the join then needs fewer Exchanges, and g tasks keep all cores
 * busy.
 */
private[colocate] case class ReadByCommonDivisor(session: SparkSession) extends (ShuffledJoin => Option[SparkPlan]) {

  override def apply(join: ShuffledJoin): Option[SparkPlan] =
    for {
      (left, leftTasks) <- side(join, 0)
      (right, rightTasks) <- side(join, 1)
      common = PartitionBuckets.commonDivisor(Seq(leftTasks, rightTasks))
      if isShuffled(join) && common >= session.sparkContext.defaultParallelism.min(leftTasks.min(rightTasks))
      met = JoinSides.ensure(join, JoinSides.readAs(left, common), JoinSides.readAs(right, common))
      if JoinSides.exchanges(met) < JoinSides.exchanges(join)
    } yield met

  private def isShuffled(join: ShuffledJoin): Boolean = join.children.exists(JoinSides.belowExchange(_).isDefined)

  /** A side's plan without the Exchange that the other bucket count required, and its number of tasks. */
  private def side(join: ShuffledJoin, index: Int): Option[(SparkPlan, Int)] =
    join.requiredChildDistribution(index) match {
      case distribution: ClusteredDistribution =>
        val plan = JoinSides.bare(join.children(index))
        JoinSides.layoutFor(plan, distribution).map(layout => (plan, layout.numPartitions))
      case _ => None
    }
}
