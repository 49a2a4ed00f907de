package org.apache.spark.sql.colocate.dml

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Ascending, Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.colocate.plan.UsesBuckets
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

/**
 * The top of a plan that Delta writes: the rows of one value of `bucket` are all in one task. Rows pass unchanged.
 *
 * @param onePerTask the task has no other value of it, so its rows are in the order of that column, and Delta's writer
 *                   need not sort by it (traps S4.3)
 */
case class BucketPerTaskExec(bucket: Attribute, onePerTask: Boolean, child: SparkPlan)
    extends UnaryExecNode
    with UsesBuckets {

  override def usesBuckets: Boolean = true

  override def output: Seq[Attribute] = child.output

  override def outputPartitioning: Partitioning = child.outputPartitioning

  override def outputOrdering: Seq[SortOrder] =
    if (onePerTask) SortOrder(bucket, Ascending) +: child.outputOrdering else child.outputOrdering

  override protected def doExecute(): RDD[InternalRow] = child.execute()

  override protected def withNewChildInternal(newChild: SparkPlan): BucketPerTaskExec = copy(child = newChild)
}
