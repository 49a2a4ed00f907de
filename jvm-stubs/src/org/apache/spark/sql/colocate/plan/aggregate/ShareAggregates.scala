package org.apache.spark.sql.colocate.plan.aggregate

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.aggregate.{Complete, Final}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.plan.join.JoinSides
import org.apache.spark.sql.colocate.plan.partitioning.ColocatedPartitioning
import org.apache.spark.sql.colocate.plan.{Ensure, Regions}
import org.apache.spark.sql.execution.{ProjectExec, SparkPlan}
import org.apache.spark.sql.execution.aggregate._
import org.apache.spark.sql.execution.exchange.{Exchange, ShuffleExchangeExec}
import org.apache.spark.sql.execution.joins.ShuffledJoin

/**
 * A WITH query that is used several times is in the plan several times. Stock Spark runs it once, up to its shuffle,
 * which is reused; without the shuffle its tables would be read again for each use. So an aggregate that is there more
 * than once is shuffled after all, to the buckets that its rows are in: they are no more than stock Spark shuffles, and
 * what is above finds them by bucket as before.
 */
object ShareAggregates extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan = {
    val several = usedTwice(plan)
    if (several.isEmpty) plan
    else {
      val shared = Ensure(share(plan, several.keySet))
      val expected = JoinSides.exchanges(plan) + several.values.sum
      if (JoinSides.exchanges(shared) == expected) shared else plan
    }
  }

  private def usedTwice(plan: SparkPlan): Map[SparkPlan, Int] = {
    val uses = mutable.HashMap.empty[SparkPlan, Int]
    val aggregates = plan.collect { case aggregate: BaseAggregateExec if isLast(aggregate) => aggregate }
    if (conf.exchangeReuseEnabled && aggregates.size > 1)
      count(plan, uses, mutable.HashSet.empty)
    uses.filter(_._2 > 1).toMap
  }

  /** Below an Exchange, or an aggregate, that was seen before nothing is read again. */
  private def count(plan: SparkPlan, uses: mutable.Map[SparkPlan, Int], seen: mutable.Set[SparkPlan]): Unit =
    plan match {
      case join: ShuffledJoin if join.isSkewJoin => ()
      case exchange: Exchange => if (seen.add(exchange.canonicalized)) plan.children.foreach(count(_, uses, seen))
      case Shareable(bare, _) =>
        val before = uses.getOrElse(bare.canonicalized, 0)
        uses(bare.canonicalized) = before + 1
        if (before == 0) plan.children.foreach(count(_, uses, seen))
      case _ => plan.children.foreach(count(_, uses, seen))
    }

  /** Joins that ask for no distribution rely on their sides' tasks as they are: an Exchange may give others. */
  private def share(plan: SparkPlan, several: Set[SparkPlan]): SparkPlan = plan match {
    case join: ShuffledJoin if join.isSkewJoin => join
    case aggregate @ Shareable(bare, layout) if several(bare.canonicalized) =>
      val rows = ShuffleExchangeExec(layout, bare.mapChildren(share(_, several)))
      val used = ProjectExec(aggregate.resultExpressions, rows)
      used.copyTagsFrom(aggregate)
      used
    case _ => plan.mapChildren(share(_, several))
  }

  private def isLast(aggregate: BaseAggregateExec): Boolean = aggregate.groupingExpressions.nonEmpty &&
    aggregate.aggregateExpressions.forall(a => a.mode == Final || a.mode == Complete)

  /** An aggregate over buckets, with the columns from which every use makes its own, and the layout of its rows. */
  private object Shareable {

    def unapply(aggregate: BaseAggregateExec): Option[(SparkPlan, HashPartitioning)] =
      for {
        last <- Option.when(isLast(aggregate) && Regions.scans(aggregate).isDefined)(aggregate)
        bare <- withoutColumns(last)
        layout <- ColocatedPartitioning.of(bare)
      } yield (bare, HashPartitioning(layout.expressions, layout.numPartitions))

    private def withoutColumns(aggregate: BaseAggregateExec): Option[SparkPlan] = {
      val columns = aggregate.groupingExpressions.map(_.toAttribute) ++ aggregate.aggregateAttributes
      val bare = aggregate match {
        case hash: HashAggregateExec => Some(hash.copy(resultExpressions = columns))
        case objects: ObjectHashAggregateExec => Some(objects.copy(resultExpressions = columns))
        case sorted: SortAggregateExec => Some(sorted.copy(resultExpressions = columns))
        case _ => None
      }
      bare.foreach(_.copyTagsFrom(aggregate))
      bare
    }
  }
}
