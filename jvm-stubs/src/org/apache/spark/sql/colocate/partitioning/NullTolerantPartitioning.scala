package org.apache.spark.sql.colocate.partitioning

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.colocate.rules.PlanningNode
import org.apache.spark.sql.execution.joins.ShuffledJoin
import org.apache.spark.sql.execution.{FilterExec, ProjectExec, SortExec, SparkPlan}

/**
 * Every row lies in the task numbered `pmod(hash(keys), tasks)`, unless one of `keys` is null: then it may be in any.
 * This is enough for a join by `=` on the keys, which no null passes, and for nothing else.
 */
case class NullTolerantPartitioning(keys: Seq[Expression], tasks: Int)

object NullTolerantPartitioning {

  /** All such partitionings of a plan. */
  def of(plan: SparkPlan): Seq[NullTolerantPartitioning] = {
    val proven = ColocatedPartitioning.all(plan.outputPartitioning)
      .map(p => NullTolerantPartitioning(p.expressions, p.numPartitions))
    (proven ++ through(plan)).distinct
  }

  private def through(plan: SparkPlan): Seq[NullTolerantPartitioning] = plan match {
    case ProjectExec(list, child) => of(child).flatMap(renamed(_, list))
    case _: FilterExec | _: PlanningNode | SortExec(_, false, _, _) => of(plan.children.head)
    case join: ShuffledJoin => join.joinType match {
        // A row of either side stays in its task; what the other side adds to it is null or of a row in that task.
        case _: InnerLike | LeftOuter | RightOuter | LeftSingle => of(join.left) ++ of(join.right)
        case FullOuter => of(join.left) ++ of(join.right) ++ coalesced(join)
        case LeftExistence(_) => of(join.left)
        case _ => Nil
      }
    case _ => Nil
  }

  /** Whichever side a row came from, and the one key where both did: `coalesce(l, r)`, position by position. */
  private def coalesced(join: ShuffledJoin): Seq[NullTolerantPartitioning] = for {
    left <- of(join.left)
    right <- of(join.right)
    if left.tasks == right.tasks && FullOuterKeysExec.areEquated(join, left.keys, right.keys)
    order <- Seq(true, false)
  } yield NullTolerantPartitioning(
    left.keys.zip(right.keys).map { case (l, r) => Coalesce(if (order) Seq(l, r) else Seq(r, l)) },
    left.tasks)

  /** The partitioning in terms of a projection's output; none if a key is missing there. */
  private def renamed(layout: NullTolerantPartitioning, list: Seq[NamedExpression]): Seq[NullTolerantPartitioning] =
    layout.keys
      .map(key => list.filter(named(_).semanticEquals(key)).map(_.toAttribute))
      .foldLeft(Seq(Seq.empty[Expression]))((found, columns) => found.flatMap(keys => columns.map(keys :+ _)))
      .map(NullTolerantPartitioning(_, layout.tasks))

  private def named(column: NamedExpression): Expression = column match {
    case Alias(child, _) => child
    case other => other
  }
}
