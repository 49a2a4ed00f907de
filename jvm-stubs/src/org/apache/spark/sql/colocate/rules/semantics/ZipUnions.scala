package org.apache.spark.sql.colocate.rules.semantics

import org.apache.spark.sql.catalyst.plans.physical.UnknownPartitioning
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.partitioning.ColocatedPartitioning
import org.apache.spark.sql.colocate.rules.PlanWalk
import org.apache.spark.sql.colocate.scan.MemberScans
import org.apache.spark.sql.execution.{ColumnarToRowExec, SparkPlan, UnionExec}

/**
 * Spark's union of equally partitioned children zips them task by task when it reads rows, but sets their tasks side by
 * side when it reads batches, and still promises the children's partitioning: a union of members would lie in twice as
 * many tasks as its aggregate believes. So a union that is to keep the layout reads rows. Spark's own bucketed scans have
 * it wrong too, and a native member's scan is one of them where we are switched off.
 *
 * Not when no child reads a table of ours: that union is Spark's, as it is.
 */
object ZipUnions extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan = plan.transformUp {
    case union: UnionExec if union.supportsColumnar && readsOurs(union) && isZipped(union) =>
      union.copy(children = union.children.map(ColumnarToRowExec(_)))
  }

  private def isZipped(union: UnionExec): Boolean = !union.outputPartitioning.isInstanceOf[UnknownPartitioning]

  private def readsOurs(union: UnionExec): Boolean =
    PlanWalk.leaves(union).exists(MemberScans.isOne) || ColocatedPartitioning.of(union).isDefined // by a cache
}
