package org.apache.spark.sql.colocate.ddl

import org.apache.spark.SparkException
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Ascending, Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy, UnaryExecNode}

/**
 * Brings rows to the task of their bucket before they are written, so that a commit leaves one file per bucket and
 * partition instead of tasks x buckets files. It asks for a distribution rather than for a shuffle: an input that has
 * the layout already (a member of the same group, a join of members) is written as it is.
 *
 * @param sort columns that each bucket's file is sorted by
 */
case class WriteLayout(keys: Seq[Attribute], buckets: Int, sort: Seq[Attribute], child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override def maxRows: Option[Long] = child.maxRows
  override def outputOrdering: Seq[SortOrder] = WriteLayout.ordering(keys, buckets, sort)
  override protected def withNewChildInternal(newChild: LogicalPlan): WriteLayout = copy(child = newChild)
}

object WriteLayout {

  /** A task holds one bucket, so its rows are in the order of bucket ids: the writer needs no sort of its own. */
  def ordering(keys: Seq[Attribute], buckets: Int, sort: Seq[Attribute]): Seq[SortOrder] =
    (HashPartitioning(keys, buckets).partitionIdExpression +: sort).map(SortOrder(_, Ascending))
}

case class WriteLayoutExec(keys: Seq[Attribute], buckets: Int, sort: Seq[Attribute], child: SparkPlan)
    extends UnaryExecNode {

  override def output: Seq[Attribute] = child.output

  // Without the layout: a distribution that gets an exchange by exactly this hash, which AQE leaves alone, so that task
  // number and bucket id stay the same. With it: the requirement that DisableUnnecessaryBucketedScan heeds, because
  // that rule would make an ordinary scan of the bucketed one that we rely on.
  override def requiredChildDistribution: Seq[Distribution] =
    if (isLaidOut(child.outputPartitioning)) Seq(ClusteredDistribution(keys, requireAllClusterKeys = true, Some(buckets)))
    else Seq(StatefulOpClusteredDistribution(keys, buckets))

  /** A range partitioning, or hash keys in another order, is clustered too, and yet another layout. */
  private def isLaidOut(partitioning: Partitioning): Boolean = partitioning match {
    case hash: HashPartitioningLike =>
      hash.numPartitions == buckets && hash.expressions.size == keys.size &&
        hash.expressions.zip(keys).forall { case (mine, key) => mine.semanticEquals(key) }
    case several: PartitioningCollection => several.partitionings.exists(isLaidOut)
    case _ => false
  }

  override def requiredChildOrdering: Seq[Seq[SortOrder]] = Seq(sort.map(SortOrder(_, Ascending)))

  override def outputPartitioning: Partitioning = child.outputPartitioning

  override def outputOrdering: Seq[SortOrder] = WriteLayout.ordering(keys, buckets, sort)

  // A rule that changed the input after all fails the write here: the writer trusts our order and must not see a
  // bucket twice in a task.
  override protected def doExecute(): RDD[InternalRow] = {
    val rows = child.execute()
    if (rows.getNumPartitions != buckets) throw SparkException.internalError(
      s"The input of a bucketed write has ${rows.getNumPartitions} tasks where $buckets buckets were promised")
    rows
  }

  override protected def withNewChildInternal(newChild: SparkPlan): WriteLayoutExec = copy(child = newChild)
}

object PlanWriteLayout extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case WriteLayout(keys, buckets, sort, child) => WriteLayoutExec(keys, buckets, sort, planLater(child)) :: Nil
    case _ => Nil
  }
}
