package org.apache.spark.sql.colocate.ops.hosts

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.layout.BucketColumn
import org.apache.spark.sql.colocate.rules.OnAnyPlan
import org.apache.spark.sql.colocate.scan.TaskIsBucket
import org.apache.spark.sql.execution.{FilterExec, ProjectExec, SortExec, SparkPlan}

/**
 * Matches: the plan of the rows that a Delta command (INSERT, MERGE, UPDATE, DELETE, OPTIMIZE, ...) writes into a table
 * of a group on HDFS.
 * Produces: the same rows. If each task writes one bucket, tasks prefer that bucket's hosts. Each task gets the list of
 * all buckets' hosts, which FavoredNodesFileSystem passes on to HDFS.
 * Not when: the table is not on HDFS. For native tables PlacesNativeWrites does it.
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
    case _: TaskIsBucket => true
    case _: ProjectExec | _: FilterExec | _: SortExec => hasTaskPerBucket(plan.children.head)
    case _ => false
  }
}
