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
 * Matches: a shuffled join by keys that an outer join below filled with nulls, and an operator with an Exchange between
 * it and such a join. After `a LEFT JOIN b ON a.k = b.k`, a row whose b.k is null may be in any bucket; all other rows
 * are in the bucket of b.k. After a full outer join the same is true of both keys and of their coalesce.
 * Produces: the join without the Exchange. A null is equal to nothing by `=`, so it does not matter in which task it
 * is. An aggregate would need all nulls in one task, and a Partitioning of Spark's can't say that it serves joins only.
 * So none is declared for such keys. Instead the join gets `isSkewJoin`, with which Spark's joins require no
 * distribution of their children.
 * Not when: the keys are compared by `<=>`, or the operator is an aggregate, a DISTINCT or a window: these need all
 * nulls in one task. Nor when the sides have different numbers of tasks.
 */
object DropExchangeOnNullExtendedKeys extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan = plan.transformUp {
    case join: ShuffledJoin if mayBeFreed(join) => freed(join).getOrElse(join)
    // Without the Exchange, a side keeps its own partitioning, which may satisfy an operator above the join.
    case operator: UnaryExecNode if hasFreedJoin(operator.child) => withoutExchange(operator).getOrElse(operator)
  }

  /** A join with an Exchange, or one that relied on the Exchange of a join below that has lost it. */
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

  /** For each bucket key its position among the join's keys. If a join has a key twice, all combinations. */
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
