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
 * Matches: a shuffled join by keys that an outer join below filled with nulls, and an operator that was shuffled above
 * such a join. After `a LEFT JOIN b ON a.k = b.k`, b.k is null in any bucket or else lies in its own; after a full
 * outer join this holds for both keys and for their coalesce.
 * Produces: the join without the Exchange. A null matches nothing by `=`, so the join is right without it. Spark's
 * partitionings don't distinguish a join from an aggregate, so no partitioning is declared for such keys: the join
 * alone is freed from its required distribution, by `isSkewJoin`, and its output partitioning is that of its children.
 * Not when: the keys are compared by `<=>`, or it is an aggregate, DISTINCT or a window: these must see all nulls in
 * one task. Nor when the sides have different numbers of tasks.
 */
object DropExchangeOnNullExtendedKeys extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan = plan.transformUp {
    case join: ShuffledJoin if mayBeFreed(join) => freed(join).getOrElse(join)
    // Without the Exchange the side has its own partitioning, which the operators above the join may use.
    case operator: UnaryExecNode if hasFreedJoin(operator.child) => withoutExchange(operator).getOrElse(operator)
  }

  /** A join that is shuffled, or one that relied on the Exchange of a join below, which is freed now. */
  private def mayBeFreed(join: ShuffledJoin): Boolean = !join.isSkewJoin && join.leftKeys.nonEmpty &&
    (join.children.exists(isShuffled) ||
      (join.children.exists(_.exists(isFreed)) && !ValidateRequirements.validate(join)))

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
    val aligned = for {
      l <- NullTolerantPartitioning.of(left)
      r <- NullTolerantPartitioning.of(right)
    } yield l.tasks == r.tasks && l.tasks == left.outputPartitioning.numPartitions &&
      r.tasks == right.outputPartitioning.numPartitions &&
      positions(l, join.leftKeys).exists(positions(r, join.rightKeys).contains)
    Option.when(aligned.contains(true))(marked(join, left, right))
  }

  /** For each bucket key the position of the same key in the join; all such lists, if a key is there twice. */
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
