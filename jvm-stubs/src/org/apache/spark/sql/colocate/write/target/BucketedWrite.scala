package org.apache.spark.sql.colocate.write.target

import org.apache.spark.SparkException
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, Repartition, Sort, UnaryNode}
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.colocate.layout.{BucketColumn, BucketLayout}
import org.apache.spark.sql.colocate.partitioning.ColocatedPartitioning
import org.apache.spark.sql.colocate.scan.TaskIsBucket
import org.apache.spark.sql.execution.columnar.InMemoryRelation
import org.apache.spark.sql.execution.exchange.ValidateRequirements
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

/**
 * The rows of a write into a bucketed table, each bucket in a task of its own, so that a commit leaves one file per
 * bucket and partition instead of tasks x buckets files.
 *
 * @param order    the partition columns and the bucket's id, as the writer spells them; then the order in each file
 * @param bucketAt where in the order the bucket's id is, which is constant in a task
 * @param native   the native table that is written to; Delta's are found by PlaceWrites
 */
case class BucketedWrite(
    keys: Seq[Expression],
    buckets: Int,
    order: Seq[SortOrder],
    bucketAt: Int,
    native: Option[CatalogTable],
    child: LogicalPlan)
    extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override def maxRows: Option[Long] = child.maxRows
  override def outputOrdering: Seq[SortOrder] = order
  override protected def stringArgs: Iterator[Any] = Iterator(keys, buckets, order, bucketAt)
  override protected def withNewChildInternal(newChild: LogicalPlan): BucketedWrite = copy(child = newChild)
}

object BucketedWrite {

  /** Up to this number of rows, one task writes all buckets faster than a shuffle distributes them. */
  private val FewRows = 10000L

  /** Into a Delta table, whose range partitions may have different numbers of buckets. */
  def over(query: LogicalPlan, keys: Seq[Expression], layout: BucketLayout, files: FileOrder): LogicalPlan =
    if (layout.partitions.isEmpty) over(query, keys, layout.buckets, files)
    else WriteByPartitionsBuckets.over(query, keys, layout, files)

  /** Into a Delta table with one number of buckets. */
  def over(
      query: LogicalPlan, keys: Seq[Expression], buckets: Int, files: FileOrder): LogicalPlan = {
    val bucket = BucketColumn.idOf(keys, buckets)
    if (isSmall(query)) sorted(inOneTask(query), files, bucket)
    else BucketedWrite(keys, buckets, orderOf(files, bucket), files.partitions.size, native = None, query)
  }

  /** The rows of each task in the order of the files. */
  def sorted(tasks: LogicalPlan, files: FileOrder, bucket: Expression): LogicalPlan =
    if (files.isSorted) Sort(orderOf(files, bucket), global = false, tasks) else tasks

  private def orderOf(files: FileOrder, bucket: Expression): Seq[SortOrder] =
    ascending(files.partitions ++ (bucket +: files.columns): _*)

  def isSmall(query: LogicalPlan): Boolean = mostRows(query).exists(_ <= FewRows)

  def inOneTask(query: LogicalPlan): LogicalPlan = Repartition(1, shuffle = false, query)

  private def mostRows(query: LogicalPlan): Option[Long] = query match {
    case Project(_, child) => mostRows(child)
    case kept: InMemoryRelation => MaterializedQuery.count(kept)
    case _ => query.maxRows
  }

  /** Into a native table: Spark's writer compares with its own expression. */
  def native(
      query: LogicalPlan,
      keys: Seq[Attribute],
      buckets: Int,
      sort: Seq[Attribute],
      table: Option[CatalogTable]): LogicalPlan = {
    val id = HashPartitioning(keys, buckets).partitionIdExpression
    BucketedWrite(keys, buckets, ascending(id +: sort: _*), bucketAt = 0, table, query)
  }

  private def ascending(expressions: Expression*): Seq[SortOrder] = expressions.map(SortOrder(_, Ascending))
}

/**
 * Requires the rows by bucket as a distribution, so that a query that has it already (a colocated scan or join, an
 * aggregate on the keys) is not shuffled again. It also declares that the bucket of a task is constant, so that the
 * writer need not sort by it.
 */
case class BucketedWriteExec(
    keys: Seq[Expression], buckets: Int, order: Seq[SortOrder], bucketAt: Int, child: SparkPlan)
    extends UnaryExecNode
    with TaskIsBucket {

  override def output: Seq[Attribute] = child.output

  // Without the layout: a distribution that gets an Exchange by exactly this hash, which AQE leaves alone, so that task
  // number and bucket id stay the same. With it: a requirement that DisableUnnecessaryBucketedScan respects, because
  // that rule would otherwise turn the bucketed scan below into an ordinary one.
  // Spark also calls this before the sides of the joins below match. A join has no valid partitioning then.
  override def requiredChildDistribution: Seq[Distribution] =
    if (ValidateRequirements.validate(child) && hasLayout(child.outputPartitioning)) {
      Seq(ClusteredDistribution(keys, requireAllClusterKeys = true, requiredNumPartitions = Some(buckets)))
    } else Seq(StatefulOpClusteredDistribution(keys, buckets))

  // A range, a coalesced shuffle or hash keys in another order are clustered too, but not by bucket.
  private def hasLayout(partitioning: Partitioning): Boolean = partitioning match {
    case HashPartitioning(hashed, n) => n == buckets && ColocatedPartitioning.sameKeys(hashed, keys)
    case ColocatedPartitioning(hashed, n) => n == buckets && ColocatedPartitioning.sameKeys(hashed, keys)
    case several: PartitioningCollection => several.partitionings.exists(hasLayout)
    case _ => false
  }

  override def requiredChildOrdering: Seq[Seq[SortOrder]] = Seq(order.patch(bucketAt, Nil, 1))

  override def outputPartitioning: Partitioning = child.outputPartitioning

  override def outputOrdering: Seq[SortOrder] = order ++ child.outputOrdering

  // A rule that merged tasks of the input after all fails the write here: the writer trusts the order and must not see
  // a bucket twice in a task. More tasks than buckets are SplitLargeBuckets' work.
  override protected def doExecute(): RDD[InternalRow] = {
    val rows = child.execute()
    if (rows.getNumPartitions < buckets) throw SparkException.internalError(
      s"The input of a bucketed write has ${rows.getNumPartitions} tasks where $buckets buckets were promised")
    rows
  }

  override protected def withNewChildInternal(newChild: SparkPlan): BucketedWriteExec = copy(child = newChild)
}
