package org.apache.spark.sql.colocate.write.merge

import org.apache.spark.sql.catalyst.expressions.{Ascending, Attribute, SortOrder}
import org.apache.spark.sql.colocate.scan.UsesBuckets
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.colocate.PassesRows

/**
 * The top of a plan that Delta writes: the rows of one value of `bucket` are all in one task. Rows pass unchanged.
 *
 * @param onePerTask the task has no other value of it, so its rows are in the order of that column, and Delta's writer
 *                   need not sort by it
 */
case class BucketPerTaskExec(bucket: Attribute, onePerTask: Boolean, child: SparkPlan)
    extends PassesRows
    with UsesBuckets {

  override def usesBuckets: Boolean = true

  override def outputOrdering: Seq[SortOrder] =
    if (onePerTask) SortOrder(bucket, Ascending) +: super.outputOrdering else super.outputOrdering

  override protected def withNewChildInternal(newChild: SparkPlan): BucketPerTaskExec = copy(child = newChild)
}
