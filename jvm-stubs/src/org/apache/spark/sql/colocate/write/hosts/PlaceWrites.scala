package org.apache.spark.sql.colocate.write.hosts

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.columns.BucketColumn
import org.apache.spark.sql.colocate.rules.OnAnyPlan
import org.apache.spark.sql.colocate.write.BucketedWriteExec
import org.apache.spark.sql.execution.{FilterExec, ProjectExec, SortExec, SparkPlan}

/**
 * Matches: the plan that a command of Delta's writes into a member on HDFS: INSERT, MERGE, UPDATE, DELETE, OPTIMIZE.
 * Produces: the same rows from tasks that prefer the hosts of their buckets, where each bucket has a task of its own,
 * and that know the hosts of all buckets, for FavoredNodesFileSystem.
 * Not when: the table lies elsewhere, where a file is on no host. Native tables: PlanBucketedWrite does it.
 */
object PlaceWrites extends Rule[SparkPlan] with OnAnyPlan {

  override def changesLayout: Boolean = false

  override def apply(plan: SparkPlan): SparkPlan =
    if (!plan.output.exists(_.name == BucketColumn.Name) || plan.exists(_.isInstanceOf[PlacedWriteExec])) plan
    else WrittenMember.ofDelta(plan).fold(plan) { member =>
      val placed = PlacedWriteExec(member, hasTaskPerBucket(plan), plan)
      placed.copyTagsFrom(plan)
      placed
    }

  @tailrec
  private def hasTaskPerBucket(plan: SparkPlan): Boolean = plan match {
    case _: BucketedWriteExec => true
    case _: ProjectExec | _: FilterExec | _: SortExec => hasTaskPerBucket(plan.children.head)
    case _ => false
  }
}
