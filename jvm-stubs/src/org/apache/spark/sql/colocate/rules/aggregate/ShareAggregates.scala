package org.apache.spark.sql.colocate.rules.aggregate

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.aggregate.{Complete, Final}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.colocate.partitioning.ColocatedPartitioning
import org.apache.spark.sql.colocate.rules.RerunEnsureRequirements
import org.apache.spark.sql.colocate.rules.join.JoinSides
import org.apache.spark.sql.colocate.scan.ExchangeFreeSubtrees
import org.apache.spark.sql.execution.aggregate._
import org.apache.spark.sql.execution.exchange.{Exchange, ShuffleExchangeExec}
import org.apache.spark.sql.execution.joins.ShuffledJoin
import org.apache.spark.sql.execution.{FilterExec, ProjectExec, SparkPlan}

/**
 * Matches: an aggregate over buckets that is in the plan several times, for example because a WITH query is used twice.
 * Stock Spark has an Exchange below each final aggregate, runs it once and reuses it. Without an Exchange, the tables
 * would be read again for each use.
 * Produces: an Exchange above the aggregate, which Spark reuses. It has the partitioning that the aggregate already
 * has, so the operators above need no other one. It shuffles no more rows than stock Spark does. If every use has a
 * HAVING, groups that none of them keeps are dropped before the Exchange.
 * Not when: `spark.sql.exchange.reuse` is off, or the plan would get more Exchanges than the one for each use.
 */
object ShareAggregates extends Rule[SparkPlan] {

  private val Shared = TreeNodeTag[Unit]("colocate.sharedAggregate")

  /** Is this the Exchange of an aggregate that is used several times? */
  def isShared(exchange: Exchange): Boolean = exchange.getTagValue(Shared).isDefined

  override def apply(plan: SparkPlan): SparkPlan = {
    val several = usedTwice(plan)
    if (several.isEmpty) plan
    else {
      val shared = RerunEnsureRequirements(share(plan, several))
      val expected = JoinSides.exchanges(plan) + several.values.map(_.size).sum
      if (JoinSides.exchanges(shared) == expected) shared else plan
    }
  }

  /** The aggregates that the plan has more than once, by their canonical form, with their uses. */
  private def usedTwice(plan: SparkPlan): Map[SparkPlan, Seq[UseOfAggregate]] = {
    val uses = mutable.HashMap.empty[SparkPlan, Seq[UseOfAggregate]]
    val aggregates = plan.collect { case aggregate: BaseAggregateExec if isLast(aggregate) => aggregate }
    if (conf.exchangeReuseEnabled && aggregates.size > 1)
      collect(plan, uses, mutable.HashSet.empty)
    uses.filter(_._2.size > 1).toMap
  }

  /** Does not go below an Exchange or aggregate that equals one seen before: its result will be reused. */
  private def collect(
      plan: SparkPlan,
      uses: mutable.Map[SparkPlan, Seq[UseOfAggregate]],
      seen: mutable.Set[SparkPlan]): Unit = plan match {
    case join: ShuffledJoin if join.isSkewJoin => ()
    case exchange: Exchange => if (seen.add(exchange.canonicalized)) plan.children.foreach(collect(_, uses, seen))
    case Use(use, bare) =>
      val before = uses.getOrElse(bare.canonicalized, Nil)
      uses(bare.canonicalized) = before :+ use
      if (before.isEmpty) bare.children.foreach(collect(_, uses, seen))
    case _ => plan.children.foreach(collect(_, uses, seen))
  }

  /**
   * Puts the Exchanges in. Leaves out what is below a join with `isSkewJoin`: it requires no distribution, but relies
   * on the tasks of its children, which an Exchange may change.
   */
  private def share(plan: SparkPlan, several: Map[SparkPlan, Seq[UseOfAggregate]]): SparkPlan = plan match {
    case join: ShuffledJoin if join.isSkewJoin => join
    case aggregate @ Shareable(bare, layout) if several.contains(bare.canonicalized) =>
      val groups = bare.mapChildren(share(_, several))
      val kept = UseOfAggregate.keptByAny(several(bare.canonicalized), groups.output)
      val rows = ShuffleExchangeExec(layout, kept.fold(groups)(FilterExec(_, groups)))
      rows.setTagValue(Shared, ())
      val used = ProjectExec(aggregate.resultExpressions, rows)
      used.copyTagsFrom(aggregate)
      used
    case _ => plan.mapChildren(share(_, several))
  }

  /**
   * A use of an aggregate over buckets, with the filter on it; and the aggregate without the expressions of this use,
   * so that equal aggregates have equal canonical forms.
   */
  private object Use {

    def unapply(plan: SparkPlan): Option[(UseOfAggregate, SparkPlan)] = plan match {
      case FilterExec(condition, aggregate @ Shareable(bare, _)) =>
        Some((UseOfAggregate(aggregate, Some(condition)), bare))
      case aggregate @ Shareable(bare, _) => Some((UseOfAggregate(aggregate, None), bare))
      case _ => None
    }
  }

  private def isLast(aggregate: BaseAggregateExec): Boolean = aggregate.groupingExpressions.nonEmpty &&
    aggregate.aggregateExpressions.forall(a => a.mode == Final || a.mode == Complete)

  /**
   * An aggregate over buckets without the expressions of its use (see UseOfAggregate.columns), and its partitioning.
   */
  private object Shareable {

    def unapply(aggregate: BaseAggregateExec): Option[(SparkPlan, HashPartitioning)] =
      for {
        last <- Option.when(isLast(aggregate) && ExchangeFreeSubtrees.scans(aggregate).isDefined)(aggregate)
        bare <- withoutColumns(last)
        layout <- ColocatedPartitioning.of(bare)
      } yield (bare, HashPartitioning(layout.expressions, layout.numPartitions))

    private def withoutColumns(aggregate: BaseAggregateExec): Option[SparkPlan] = {
      val columns = UseOfAggregate.columns(aggregate)
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
