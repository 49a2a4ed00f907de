package org.apache.spark.sql.colocate.plan

import org.apache.spark.sql.catalyst.plans.physical.UnknownPartitioning
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarToRowExec, SparkPlan, UnionExec}

/**
 * Spark's union of equally partitioned children zips them task by task when it reads rows, but sets their tasks side by
 * side when it reads batches, and still promises the children's partitioning: a union of members would lie in twice as
 * many tasks as its aggregate believes. So a union that is to keep the layout reads rows. Spark's own bucketed scans have
 * it wrong too, and a native member's scan is one of them where we are switched off.
 */
object ZipUnions extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan = plan.transformUp {
    case union: UnionExec if union.supportsColumnar && !union.outputPartitioning.isInstanceOf[UnknownPartitioning] =>
      union.copy(children = union.children.map(ColumnarToRowExec(_)))
  }
}
