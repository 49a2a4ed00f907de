package org.apache.spark.sql.colocate.rules.join

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.physical.ClusteredDistribution
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.partitioning.NullTolerantPartitioning
import org.apache.spark.sql.colocate.rules.RerunEnsureRequirements
import org.apache.spark.sql.execution.exchange.ValidateRequirements
import org.apache.spark.sql.execution.joins.{ShuffledHashJoinExec, ShuffledJoin, SortMergeJoinExec}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

/**
 * `a LEFT JOIN b ON a.k = b.k` leaves b.k either in its bucket or null, anywhere; a full outer join does so with both
 * keys, and with their coalesce. A null matches nothing by `=`, so a *join* by these keys needs no Exchange, while an
 * aggregate, DISTINCT, a window or `<=>` does. Spark's partitionings can't tell a join from an aggregate, so nothing is
 * claimed for such keys: the join alone is freed of its requirement, by Spark's own mark, and what it gives upwards is
 * what its children give.
 */
object DropExchangeOnNullExtendedKeys extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan = plan.transformUp {
    case join: ShuffledJoin if isAsked(join) => freed(join).getOrElse(join)
    // The side that needs no Exchange any more brings its own layout to what comes above the join.
    case operator: UnaryExecNode if hasFreedJoin(operator.child) => withoutExchange(operator).getOrElse(operator)
  }

  /** A join that is shuffled, or that was planned upon the Exchange of one below that is freed now. */
  private def isAsked(join: ShuffledJoin): Boolean = !join.isSkewJoin && join.leftKeys.nonEmpty &&
    (join.children.exists(isShuffled) || (join.children.exists(_.exists(isFreed)) && !ValidateRequirements.validate(join)))

  private def hasFreedJoin(child: SparkPlan): Boolean = JoinSides.belowExchange(child).exists(_.exists(isFreed))

  private def isFreed(plan: SparkPlan): Boolean = plan match {
    case join: ShuffledJoin => join.isSkewJoin && !join.children.exists(isShuffled)
    case _ => false
  }

  private def withoutExchange(operator: UnaryExecNode): Option[SparkPlan] =
    operator.requiredChildDistribution.head match {
      case wanted: ClusteredDistribution =>
        JoinSides.belowExchange(operator.child).filter(_.outputPartitioning.satisfies(wanted)).map { below =>
          RerunEnsureRequirements(operator.withNewChildren(Seq(below)))
        }
      case _ => None
    }

  private def isShuffled(child: SparkPlan): Boolean = JoinSides.belowExchange(child).isDefined

  private def freed(join: ShuffledJoin): Option[SparkPlan] = {
    val left = JoinSides.bare(join.left)
    val right = JoinSides.bare(join.right)
    val meet = for {
      l <- NullTolerantPartitioning.of(left)
      r <- NullTolerantPartitioning.of(right)
    } yield l.tasks == r.tasks && l.tasks == left.outputPartitioning.numPartitions &&
      r.tasks == right.outputPartitioning.numPartitions &&
      positions(l, join.leftKeys).exists(positions(r, join.rightKeys).contains)
    Option.when(meet.contains(true))(marked(join, left, right))
  }

  /** For each bucket key, which of the join's keys it is; all ways to see it that way. */
  private def positions(layout: NullTolerantPartitioning, keys: Seq[Expression]): Seq[Seq[Int]] =
    layout.keys
      .map(key => keys.indices.filter(index => keys(index).semanticEquals(key)))
      .foldLeft(Seq(Seq.empty[Int]))((found, at) => found.flatMap(ways => at.map(ways :+ _)))

  private def marked(join: ShuffledJoin, left: SparkPlan, right: SparkPlan): SparkPlan = {
    val free = join match {
      case merge: SortMergeJoinExec => merge.copy(left = left, right = right, isSkewJoin = true)
      case hash: ShuffledHashJoinExec => hash.copy(left = left, right = right, isSkewJoin = true)
      case other => other
    }
    RerunEnsureRequirements(free)
  }
}
