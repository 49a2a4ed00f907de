package org.apache.spark.sql.colocate.rules.join

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.joins.ShuffledJoin

/**
 * Matches: each shuffled join, from the bottom up.
 * Produces: of the ways to join its sides, the one with the fewest Exchanges: both sides read by the greatest common
 * divisor of their bucket counts, the smaller side shuffled to the buckets of the other, or as Spark planned it.
 * Not when: an outer join below left null keys outside of their buckets. A join by such keys loses its required
 * distribution when it is changed, so [[DropExchangeOnNullExtendedKeys]] runs later, when the number of tasks of each
 * side is final.
 */
case class AlignJoinSides(session: SparkSession) extends Rule[SparkPlan] {

  // If two have the same number of Exchanges, the first one is taken.
  private val candidates: Seq[ShuffledJoin => Option[SparkPlan]] =
    Seq(CoalesceBucketsInJoin(session), ShuffleSmallerSide)

  override def apply(plan: SparkPlan): SparkPlan = plan.transformUp {
    case join: ShuffledJoin if join.leftKeys.nonEmpty =>
      JoinSides.matched(join) match {
        case matched: ShuffledJoin => (candidates.flatMap(_(matched)) :+ matched).minBy(JoinSides.exchanges)
        case other => other
      }
  }
}
