package org.apache.spark.sql.colocate.write.merge

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.BuildLeft
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.colocate.layout.BucketColumn
import org.apache.spark.sql.colocate.partitioning.ColocatedPartitioning
import org.apache.spark.sql.colocate.rules.PlanningNode
import org.apache.spark.sql.colocate.scan.{ColocatedScanExec, ReadMode}
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.joins._
import org.apache.spark.sql.types.IntegerType

/**
 * What is known of a task's number: a row's value of each of `columns` (a member's own bucket column), modulo `tasks`,
 * is the number of its task, and so is `pmod(hash(keys), tasks)` for each of `keys`, wherever these are not
 * null-extended by an outer join.
 *
 * @param columns  bucket columns, each with the bucket count of its table, a multiple of `tasks`; the greatest one, if
 *                 range partitions have different counts
 * @param readsMember a colocated scan is among the inputs. A shuffle alone proves nothing: AQE may still coalesce it
 */
private[colocate] case class TaskBucket(
    tasks: Int,
    columns: AttributeMap[Int],
    keys: Seq[Seq[Expression]],
    readsMember: Boolean) {

  /** The bucket count that the expression's values belong to, if rows of one such bucket are all in one task. */
  def bucketsOf(expression: Expression): Option[Int] = expression match {
    case a: Attribute => columns.get(a)
    case Pmod(Murmur3Hash(hashed, 42), number, _) if keys.exists(ColocatedPartitioning.sameKeys(hashed, _)) =>
      numbers(number).filter(_.forall(_ % tasks == 0)).map(_.max)
    case _ => None
  }

  /** One, or those of range partitions with different numbers of buckets. */
  private def numbers(number: Expression): Option[Seq[Int]] = {
    val possible = PossibleValues.of(number)
    val found = possible.collect { case Literal(n: Int, IntegerType) => n }
    Option.when(found.nonEmpty && found.size == possible.size)(found)
  }

  private def and(other: TaskBucket): TaskBucket =
    TaskBucket(tasks, columns ++ other.columns, keys ++ other.keys, readsMember || other.readsMember)

  /** A row with a match by `own = others` has the same hash by both. */
  private def alsoBy(own: Seq[Expression], others: Seq[Expression]): TaskBucket = {
    val translated = keys.flatMap { key =>
      val found = key.map(k => own.indexWhere(_.semanticEquals(k)))
      Option.when(found.forall(_ >= 0))(found.map(others))
    }
    copy(keys = keys ++ translated)
  }
}

private[colocate] object TaskBucket {

  /**
   * For a join of two sides that are zipped by bucket, what holds for either side. The nulls of an outer join are left
   * to the caller, which knows which rows use which side (from MERGE's CASE).
   */
  def of(plan: SparkPlan): Option[TaskBucket] = plan match {
    case scan: ColocatedScanExec => ofScan(scan)
    case join: ShuffledJoin => (of(join.left) ++ of(join.right)).toSeq match {
      case Seq(left, right) if left.tasks == right.tasks => Some(left.and(right))
      case _ => None
    }
    case join: BroadcastHashJoinExec if join.buildSide == BuildLeft =>
      of(join.right).map(_.alsoBy(join.rightKeys, join.leftKeys))
    case join: BroadcastHashJoinExec => of(join.left).map(_.alsoBy(join.leftKeys, join.rightKeys))
    case join: BroadcastNestedLoopJoinExec => of(if (join.buildSide == BuildLeft) join.right else join.left)
    case _: FilterExec | _: SortExec | _: WithinTaskExec | _: PlanningNode | _: ColumnarToRowExec =>
      of(plan.children.head)
    case ProjectExec(list, child) => of(child).map(renamed(_, list))
    case aggregate: BaseAggregateExec => of(aggregate.child).map(renamed(_, aggregate.resultExpressions))
    case _ => byPartitioning(plan.outputPartitioning)
  }

  private def ofScan(scan: ColocatedScanExec): Option[TaskBucket] = scan.mode match {
    case ReadMode.ByBucket(tasks) =>
      val columns = scan.output.filter(isBucketColumn(_, scan)).map(_ -> scan.evidence.layout.most)
      Some(TaskBucket(tasks, AttributeMap(columns), Seq(scan.keys), readsMember = true))
    case _ => None
  }

  private def isBucketColumn(a: Attribute, scan: ColocatedScanExec): Boolean =
    a.name == BucketColumn.Name && scan.relation.partitionSchema.fieldNames.contains(a.name)

  // Only these two classes: a coalesced HashPartitioning has another class.
  private def byPartitioning(partitioning: Partitioning): Option[TaskBucket] = partitioning match {
    case ColocatedPartitioning(keys, n) => Some(TaskBucket(n, AttributeMap.empty, Seq(keys), readsMember = true))
    case HashPartitioning(keys, n) => Some(TaskBucket(n, AttributeMap.empty, Seq(keys), readsMember = false))
    case _ => None
  }

  private def renamed(known: TaskBucket, list: Seq[NamedExpression]): TaskBucket = {
    val names: Map[ExprId, Seq[Attribute]] = list
      .collect { case named @ (_: Attribute | Alias(_: Attribute, _)) => origin(named) -> named.toAttribute }
      .groupMap(_._1)(_._2)
    val columns = known.columns.toSeq.flatMap { case (a, n) => names.getOrElse(a.exprId, Nil).map(_ -> n) }
    known.copy(columns = AttributeMap(columns), keys = known.keys.flatMap(rename(_, names)))
  }

  private def origin(named: NamedExpression): ExprId = named match {
    case Alias(a: Attribute, _) => a.exprId
    case other => other.exprId
  }

  private def rename(key: Seq[Expression], names: Map[ExprId, Seq[Attribute]]): Option[Seq[Expression]] = {
    val survives = AttributeSet(key).forall(a => names.contains(a.exprId))
    Option.when(survives)(key.map(_.transform { case a: Attribute => names(a.exprId).head }))
  }
}
