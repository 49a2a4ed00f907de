package org.apache.spark.sql.colocate.scan

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.BuildLeft
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.joins.{BroadcastHashJoinExec, ShuffledJoin}
import org.apache.spark.sql.execution.window.WindowExec

/**
 * A scan whose rows a broadcast join drops unless their keys are on its build side.
 *
 * @param positions for each column that divides the scan's files, which of the join's keys it is
 */
private[colocate] case class Prunable[S](scan: S, positions: Seq[Int])

/** The scans by bucket. */
private[colocate] object PrunableScans
    extends PrunableScans[ColocatedScanExec]({
      case scan: ColocatedScanExec => Some(scan -> scan.keys)
      case _ => None
    })

/**
 * Which scans below a join may skip rows whose keys are not on its build side. On the way down, each operator must give
 * the same rows for the keys that remain: it treats rows one by one, or groups or joins them by all of these keys.
 *
 * @param divided a scan, and the columns that divide its files; None for another plan
 */
private[colocate] class PrunableScans[S](divided: SparkPlan => Option[(S, Seq[Attribute])]) {

  /** All in a plan. */
  def in(plan: SparkPlan): Seq[S] = plan.collect { case join: BroadcastHashJoinExec => of(join).map(_.scan) }.flatten

  def of(join: BroadcastHashJoinExec): Seq[Prunable[S]] = (join.joinType, join.buildSide) match {
    case (_: InnerLike, BuildLeft) => below(join.right, join.rightKeys)
    case (_: InnerLike | LeftSemi, _) => below(join.left, join.leftKeys)
    case _ => Nil
  }

  private def below(plan: SparkPlan, keys: Seq[Expression]): Seq[Prunable[S]] = plan match {
    case Divided(scan, columns) => positions(columns, keys).map(Prunable(scan, _)).toSeq
    case ProjectExec(list, child) if list.forall(_.deterministic) => below(child, keys.map(renamed(_, list)))
    case FilterExec(condition, child) if condition.deterministic => below(child, keys)
    case SortExec(_, false, child, _) => below(child, keys)
    case transition: ColumnarToRowTransition => below(transition.child, keys)
    case aggregate: BaseAggregateExec => grouped(aggregate, keys)
    case window: WindowExec if keys.forall(k => window.partitionSpec.exists(_.semanticEquals(k))) =>
      below(window.child, keys)
    case join: BroadcastHashJoinExec => streamed(join, keys)
    case join: ShuffledJoin => joined(join, keys)
    case _ => Nil
  }

  private object Divided {
    def unapply(plan: SparkPlan): Option[(S, Seq[Attribute])] = divided(plan)
  }

  private def positions(columns: Seq[Attribute], keys: Seq[Expression]): Option[Seq[Int]] = {
    val found = columns.map(column => keys.indexWhere(_.semanticEquals(column)))
    Option.when(!found.contains(-1))(found)
  }

  private def renamed(key: Expression, list: Seq[NamedExpression]): Expression = {
    val sources = AttributeMap(list.collect { case alias: Alias => alias.toAttribute -> alias.child })
    key.transformUp { case attribute: Attribute => sources.getOrElse(attribute, attribute) }
  }

  /** A group whose key is not on the build side is dropped as a whole. */
  private def grouped(aggregate: BaseAggregateExec, keys: Seq[Expression]): Seq[Prunable[S]] = {
    val grouping = aggregate.groupingExpressions
    val inside = keys.map(renamed(_, aggregate.resultExpressions))
    if (inside.forall(key => grouping.exists(_.toAttribute.semanticEquals(key)))) {
      below(aggregate.child, inside.map(renamed(_, grouping)))
    } else Nil
  }

  /** A broadcast join handles each row of its streamed side by itself. */
  private def streamed(join: BroadcastHashJoinExec, keys: Seq[Expression]): Seq[Prunable[S]] =
    (join.joinType, join.buildSide) match {
      case (_: InnerLike | RightOuter, BuildLeft) => below(join.right, keys)
      case (_: InnerLike | LeftOuter | LeftExistence(_), side) if side != BuildLeft => below(join.left, keys)
      case _ => Nil
    }

  /** If the join equates the keys of its sides, the other side's rows with dropped keys match only dropped rows. */
  private def joined(join: ShuffledJoin, keys: Seq[Expression]): Seq[Prunable[S]] = {
    val toRight = keys.map(equal(_, join.leftKeys, join.rightKeys))
    val toLeft = keys.map(equal(_, join.rightKeys, join.leftKeys))
    join.joinType match {
      case _: InnerLike => below(join.left, toLeft) ++ below(join.right, toRight)
      case LeftOuter | LeftExistence(_) => leftFirst(join, keys, toRight)
      case RightOuter if keys.forall(isOf(_, join.right)) => below(join.right, keys) ++ below(join.left, toLeft)
      case _ => Nil
    }
  }

  private def leftFirst(join: ShuffledJoin, keys: Seq[Expression], toRight: Seq[Expression]): Seq[Prunable[S]] =
    if (keys.forall(isOf(_, join.left))) below(join.left, keys) ++ below(join.right, toRight) else Nil

  private def isOf(key: Expression, side: SparkPlan): Boolean = key.references.subsetOf(side.outputSet)

  private def equal(key: Expression, from: Seq[Expression], to: Seq[Expression]): Expression =
    from.indexWhere(_.semanticEquals(key)) match {
      case -1 => key
      case at => to(at)
    }
}
