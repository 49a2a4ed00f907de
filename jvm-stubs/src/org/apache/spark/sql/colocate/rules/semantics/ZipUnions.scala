package org.apache.spark.sql.colocate.rules.semantics

import org.apache.spark.sql.catalyst.plans.physical.UnknownPartitioning
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.partitioning.ColocatedPartitioning
import org.apache.spark.sql.colocate.rules.PlanWalk
import org.apache.spark.sql.colocate.scan.MemberScans
import org.apache.spark.sql.execution.{ColumnarToRowExec, SparkPlan, UnionExec}

/**
 * Matches: a union of batches whose children read members and have the same partitioning. Spark's union zips the tasks
 * of such children when it reads rows, but not when it reads batches, and declares their partitioning in both cases:
 * the union would have twice as many tasks as an aggregate above it expects. Spark's own bucketed scans have the same
 * fault, and where colocation is off the scan of a native member is one of them.
 * Produces: a union that reads rows.
 * Not when: no child reads a table of ours.
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
