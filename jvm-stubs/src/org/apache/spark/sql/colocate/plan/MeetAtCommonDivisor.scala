package org.apache.spark.sql.colocate.plan

import org.apache.spark.sql.catalyst.plans.physical.ClusteredDistribution
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.EnsureRequirements
import org.apache.spark.sql.execution.joins.ShuffledJoin

/**
 * Two members of one layout family with different bucket counts meet at their greatest common divisor g: a table of n
 * buckets may be read as g of them, since `pmod(h, n) mod g = pmod(h, g)`. Taken only if EnsureRequirements, asked
 * again about the join, then needs fewer Exchanges, and if g keeps every core busy. A join above joins that have met is
 * asked again too: what was shuffled to its lower side's buckets may meet them now, or must be shuffled to fewer.
 */
case class MeetAtCommonDivisor(session: SparkSession) extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan = plan.transformUp {
    case join: ShuffledJoin if join.leftKeys.nonEmpty => meet(join).getOrElse(matched(join))
  }

  private def matched(join: ShuffledJoin): SparkPlan =
    if (join.isSkewJoin || join.children.map(_.outputPartitioning.numPartitions).distinct.size == 1) join
    else ensure(join, JoinSides.unsorted(join.left), JoinSides.unsorted(join.right))

  private def meet(join: ShuffledJoin): Option[SparkPlan] =
    for {
      (left, leftTasks) <- side(join, 0)
      (right, rightTasks) <- side(join, 1)
      common = gcd(leftTasks, rightTasks)
      if isShuffled(join) && common >= session.sparkContext.defaultParallelism.min(leftTasks.min(rightTasks))
      met = ensure(join, JoinSides.readAs(left, common), JoinSides.readAs(right, common))
      if JoinSides.exchanges(met) < JoinSides.exchanges(join)
    } yield met

  private def isShuffled(join: ShuffledJoin): Boolean = join.children.exists(JoinSides.belowExchange(_).isDefined)

  /** A side's plan without the Exchange that the other count brought, and the tasks of its layout. */
  private def side(join: ShuffledJoin, index: Int): Option[(SparkPlan, Int)] =
    join.requiredChildDistribution(index) match {
      case distribution: ClusteredDistribution =>
        val child = join.children(index)
        val plan = JoinSides.belowExchange(child).getOrElse(JoinSides.unsorted(child))
        JoinSides.layoutFor(plan, distribution).map(layout => (plan, layout.numPartitions))
      case _ => None
    }

  private def ensure(join: ShuffledJoin, left: SparkPlan, right: SparkPlan): SparkPlan =
    EnsureRequirements(optimizeOutRepartition = false)(join.withNewChildren(Seq(left, right)))

  private def gcd(a: Int, b: Int): Int = if (b == 0) a else gcd(b, a % b)
}
