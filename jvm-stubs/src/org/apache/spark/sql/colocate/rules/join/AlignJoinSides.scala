package org.apache.spark.sql.colocate.rules.join

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.joins.ShuffledJoin

/**
 * Matches: each shuffled join, from the bottom up.
 * Produces: of the ways in which its sides can meet, the one with the fewest Exchanges: both sides at the greatest common
 * divisor of their bucket counts, the smaller side shuffled to the other one's buckets, or as Spark planned it.
 * Not when: an outer join below left null keys outside of their buckets. Such a join asks for nothing once it is changed,
 * so [[DropExchangeOnNullExtendedKeys]] comes later, when the number of tasks of every side is settled.
 */
case class AlignJoinSides(session: SparkSession) extends Rule[SparkPlan] {

  // Of those with equally many Exchanges the first one is taken.
  private val candidates: Seq[ShuffledJoin => Option[SparkPlan]] = Seq(CoalesceBucketsInJoin(session), ShuffleSmallerSide)

  override def apply(plan: SparkPlan): SparkPlan = plan.transformUp {
    case join: ShuffledJoin if join.leftKeys.nonEmpty =>
      JoinSides.matched(join) match {
        case matched: ShuffledJoin => (candidates.flatMap(_(matched)) :+ matched).minBy(JoinSides.exchanges)
        case other => other
      }
  }
}
