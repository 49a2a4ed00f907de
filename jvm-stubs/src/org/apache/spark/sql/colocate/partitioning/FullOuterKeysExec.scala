package org.apache.spark.sql.colocate.partitioning

import org.apache.spark.sql.catalyst.expressions.{Coalesce, Expression}
import org.apache.spark.sql.catalyst.plans.FullOuter
import org.apache.spark.sql.catalyst.plans.physical.{HashPartitioning, Partitioning, PartitioningCollection}
import org.apache.spark.sql.colocate.rules.PlanningNode
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.joins.ShuffledJoin

/**
 * Declares what Spark does not know about a full outer join: its rows are bucketed by `coalesce(l, r)` of the keys of
 * both sides, which is the key of `FULL JOIN ... USING`. A row of one side alone has its own key and lies in its
 * bucket; a row of both has equal keys; and a null key lies in the bucket of null, on either side.
 */
case class FullOuterKeysExec(child: SparkPlan) extends PlanningNode {

  override def outputPartitioning: Partitioning = child match {
    case join: ShuffledJoin if join.joinType == FullOuter =>
      val layouts = FullOuterKeysExec.of(join)
      if (layouts.isEmpty) super.outputPartitioning else PartitioningCollection(layouts)
    case _ => super.outputPartitioning
  }

  override protected def withNewChildInternal(newChild: SparkPlan): FullOuterKeysExec = copy(child = newChild)
}

object FullOuterKeysExec {

  /**
   * In both orders: a user may write either. None if both sides are shuffled: AQE may change the tasks of a shuffle.
   */
  def of(join: ShuffledJoin): Seq[ColocatedPartitioning] = for {
    left <- strict(join.left.outputPartitioning)
    right <- strict(join.right.outputPartitioning)
    if join.children.exists(ColocatedPartitioning.of(_).isDefined)
    if left.numPartitions == right.numPartitions && areEquated(join, left.expressions, right.expressions)
    order <- Seq(true, false)
  } yield ColocatedPartitioning(
    left.expressions.zip(right.expressions).map { case (l, r) => Coalesce(if (order) Seq(l, r) else Seq(r, l)) },
    left.numPartitions)

  /** Does the condition of the join equate these keys, position by position? */
  def areEquated(join: ShuffledJoin, left: Seq[Expression], right: Seq[Expression]): Boolean =
    left.size == right.size && left.zip(right).forall { case (l, r) =>
      join.leftKeys.zip(join.rightKeys).exists { case (a, b) => a.semanticEquals(l) && b.semanticEquals(r) } ||
      NullSafeKey.in(join.leftKeys, l).exists(NullSafeKey.in(join.rightKeys, r).contains)
    }

  /** A side that was shuffled to the buckets of the other is partitioned by the same hash. */
  private def strict(partitioning: Partitioning): Seq[ColocatedPartitioning] = partitioning match {
    case HashPartitioning(keys, tasks) => Seq(ColocatedPartitioning(keys, tasks))
    case PartitioningCollection(several) => several.flatMap(strict)
    case other => ColocatedPartitioning.all(other)
  }
}
