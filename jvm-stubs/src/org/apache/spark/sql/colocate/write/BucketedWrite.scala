package org.apache.spark.sql.colocate.write

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, OrderPreservingUnaryNode, Repartition}
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.classic.Strategy
import org.apache.spark.sql.colocate.plan.ColocatedPartitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

/** Rows on their way into a bucketed table, each bucket in a task of its own. */
case class BucketedWrite(keys: Seq[Expression], buckets: Int, child: LogicalPlan) extends OrderPreservingUnaryNode {
  override def output: Seq[Attribute] = child.output
  override protected def outputExpressions: Seq[NamedExpression] = output
  override def maxRows: Option[Long] = child.maxRows
  override protected def withNewChildInternal(newChild: LogicalPlan): BucketedWrite = copy(child = newChild)
}

object BucketedWrite {

  /** Up to so many rows one task writes all buckets faster than a shuffle reaches them. */
  private val FewRows = 10000L

  /** The bucket of a row, the same expression as the generated column's. */
  def bucketId(keys: Seq[Expression], buckets: Int): Expression = new Pmod(new Murmur3Hash(keys), Literal(buckets))

  def over(query: LogicalPlan, keys: Seq[Expression], buckets: Int): LogicalPlan =
    if (query.maxRows.exists(_ <= FewRows)) Repartition(1, shuffle = false, query)
    else BucketedWrite(keys, buckets, query)
}

/**
 * Asks for the layout as a distribution, so that a query that has it already (a colocated scan or join, an aggregate on
 * the keys) is not shuffled again, and tells that a task's bucket is constant, so that Delta's writer need not sort by
 * its partition column (traps S4.3).
 */
case class BucketedWriteExec(keys: Seq[Expression], buckets: Int, child: SparkPlan) extends UnaryExecNode {

  override def output: Seq[Attribute] = child.output

  override def requiredChildDistribution: Seq[Distribution] =
    if (hasLayout) Seq(ClusteredDistribution(keys, requireAllClusterKeys = true, requiredNumPartitions = Some(buckets)))
    else Seq(StatefulOpClusteredDistribution(keys, buckets))

  // Other partitionings satisfy a clustered distribution too (a range, a coalesced shuffle), and mix buckets in a task.
  private def hasLayout: Boolean = child.outputPartitioning match {
    case partitioning @ (_: HashPartitioning | _: ColocatedPartitioning) =>
      val hashed = partitioning.asInstanceOf[HashPartitioningLike].expressions
      partitioning.numPartitions == buckets && hashed.size == keys.size &&
      hashed.zip(keys).forall { case (a, b) => a.semanticEquals(b) }
    case _ => false
  }

  override def outputPartitioning: Partitioning = child.outputPartitioning

  override def outputOrdering: Seq[SortOrder] =
    SortOrder(BucketedWrite.bucketId(keys, buckets), Ascending) +: child.outputOrdering

  override protected def doExecute(): RDD[InternalRow] = child.execute()

  override protected def withNewChildInternal(newChild: SparkPlan): BucketedWriteExec = copy(child = newChild)
}

object PlanBucketedWrite extends Strategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case BucketedWrite(keys, buckets, child) => BucketedWriteExec(keys, buckets, planLater(child)) :: Nil
    case _ => Nil
  }
}
