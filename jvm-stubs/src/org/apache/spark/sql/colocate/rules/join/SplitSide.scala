package org.apache.spark.sql.colocate.rules.join

import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.colocate.scan.ColocatedScanExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.joins.ShuffledJoin

/**
 * Which scan's buckets may be split: each join above it must give the same rows if its other side is read again for
 * each part. So the split side is the preserved side of an outer join, the left side of a semi, anti or existence join,
 * either side of an inner join, and none of a full outer join.
 */
private[colocate] object SplitSide {

  def mayBe(scan: ColocatedScanExec, plan: SparkPlan): Boolean = plan match {
    case join: ShuffledJoin if holds(join.left, scan) => keepsLeft(join.joinType) && mayBe(scan, join.left)
    case join: ShuffledJoin => keepsRight(join.joinType) && mayBe(scan, join.right)
    case other => (other eq scan) || other.children.filter(holds(_, scan)).forall(mayBe(scan, _))
  }

  private def holds(plan: SparkPlan, scan: ColocatedScanExec): Boolean = plan.exists(_ eq scan)

  private def keepsLeft(joinType: JoinType): Boolean = joinType match {
    case _: InnerLike | LeftOuter | LeftSingle | LeftExistence(_) => true
    case _ => false
  }

  private def keepsRight(joinType: JoinType): Boolean = joinType match {
    case _: InnerLike | RightOuter => true
    case _ => false
  }
}
