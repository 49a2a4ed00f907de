package org.apache.spark.sql.colocate.write.target

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.Strategy
import org.apache.spark.sql.execution.SparkPlan

/**
 * Matches: a [[BucketedWrite]].
 * Produces: its operator, which requires the distribution of the table from its input.
 * Not when: it always runs, because a file must have rows of one bucket only.
 */
object PlanBucketedWrite extends Strategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case BucketedWrite(keys, buckets, order, bucketAt, native, child) =>
      val write = BucketedWriteExec(keys, buckets, order, bucketAt, planLater(child))
      native.fold[SparkPlan](write)(WrapsWrites.native(_, write)) :: Nil
    case _ => Nil
  }
}
