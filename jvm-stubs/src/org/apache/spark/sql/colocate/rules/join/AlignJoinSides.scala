package org.apache.spark.sql.colocate.rules.join

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.joins.ShuffledJoin

/**
 * Matches: each sort-merge and shuffled hash join (Spark's ShuffledJoin), from the bottom up.
 * Produces: the plan with the fewest Exchanges out of three: both sides read as g buckets, where g is the greatest
 * common divisor of their bucket counts, if g keeps all cores busy; the smaller side shuffled to the buckets of the
 * other; or the join with the Exchanges that EnsureRequirements gives it.
 * Not when: an outer join below has filled the keys with nulls. For such keys [[DropExchangeOnNullExtendedKeys]] runs
 * next, when the number of tasks of each side is final.
 */
case class AlignJoinSides(session: SparkSession) extends Rule[SparkPlan] {

  // If two of the plans have the same number of Exchanges, the earlier one in this list is taken.
  private val candidates: Seq[ShuffledJoin => Option[SparkPlan]] =
    Seq(ReadByCommonDivisor(session), ShuffleSmallerSide)

  override def apply(plan: SparkPlan): SparkPlan = plan.transformUp {
    case join: ShuffledJoin if join.leftKeys.nonEmpty =>
      JoinSides.matched(join) match {
        case matched: ShuffledJoin => (candidates.flatMap(_(matched)) :+ matched).minBy(JoinSides.exchanges)
        case other => other
      }
  }
}
