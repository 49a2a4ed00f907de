package org.apache.spark.sql.colocate.write.target

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, RepartitionByExpression, Sort}
import org.apache.spark.sql.colocate.compat.TaskOfBucket
import org.apache.spark.sql.colocate.layout.{BucketColumn, BucketLayout, RangeColumn}

/**
 * The rows of a write into a table whose range partitions have different numbers of buckets. Rows with bucket id b are
 * in the task b, whatever their partition, so a commit leaves one file for each bucket of each partition. Which bucket
 * a row is in does not depend on this: Delta computes it.
 */
private[colocate] object WriteByPartitionsBuckets {

  /** The query as it is, if it lacks a column that a row's partition depends on. */
  def over(query: LogicalPlan, keys: Seq[Expression], layout: BucketLayout, files: FileOrder): LogicalPlan = {
    def named(name: String): Option[Expression] = query.output.find(c => query.conf.resolver(c.name, name))
    number(layout, named).fold(query)(n => over(query, BucketColumn.idOf(keys, n), layout.most, files))
  }

  def over(query: LogicalPlan, bucket: Expression, most: Int, files: FileOrder): LogicalPlan = {
    val tasks =
      if (BucketedWrite.isSmall(query)) BucketedWrite.inOneTask(query)
      else RepartitionByExpression(Seq(TaskOfBucket(bucket)), query, most)
    BucketedWrite.sorted(tasks, files, bucket)
  }

  /** Are the rows distributed like this already? */
  def isDone(query: LogicalPlan): Boolean = query match {
    case RepartitionByExpression(Seq(TaskOfBucket()), _, _, _) => true
    case Sort(_, false, rows, _) => isDone(rows)
    case _ => false
  }

  /** The number of buckets that a row is in one of: the table's, or that of its partition if these differ. */
  def numberOf(layout: BucketLayout, named: String => Option[Expression]): Option[Expression] =
    if (layout.partitions.isEmpty) Some(Literal(layout.buckets)) else number(layout, named)

  /** The number of buckets of a row's partition, from values by the names of the table's columns. */
  def number(layout: BucketLayout, named: String => Option[Expression]): Option[Expression] =
    layout.partitions.flatMap(numbers => RangeColumn.over(numbers.number, named))
}
