package org.apache.spark.sql.colocate.write

import org.apache.spark.sql.catalyst.expressions.{Alias, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan, Project}
import org.apache.spark.sql.colocate.columns.BucketColumn

/** What an analysed plan computes the bucket column of its rows by. */
private[colocate] object ComputedBuckets {

  def in(plan: LogicalPlan): Seq[Expression] = plan.collect {
    // Delta resolves a table's text over no rows, also when the table is only read.
    case Project(_, local: LocalRelation) if local.data.isEmpty => Nil
    case node => node.expressions.collect { case Alias(bucket, BucketColumn.Name) => bucket }
  }.flatten
}
