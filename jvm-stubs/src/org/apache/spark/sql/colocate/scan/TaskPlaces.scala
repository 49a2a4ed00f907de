package org.apache.spark.sql.colocate.scan

import org.apache.spark.SparkEnv
import org.apache.spark.sql.execution.metric.SQLMetric

/** The buckets that a task reads, and the hosts of these, those with the most bytes of its files first. */
private[sql] case class TaskPlace(buckets: Seq[Int], hosts: Seq[String])

/**
 * The hosts that the tasks of a scan prefer, and how many tasks run there.
 *
 * @param atHost    counts the tasks that run on one of their hosts
 * @param elsewhere counts the others
 * @param hits      counts both by bucket, for all scans of the table
 */
private[sql] case class TaskPlaces(
    byTask: IndexedSeq[TaskPlace], atHost: SQLMetric, elsewhere: SQLMetric, hits: HostHits) {

  def hostsOf(task: Int): Seq[String] = byTask(task).hosts

  /** To be called by the task, when it begins to read. */
  def count(task: Int): Unit = {
    val place = byTask(task)
    if (place.hosts.nonEmpty) {
      val isHit = place.hosts.contains(SparkEnv.get.blockManager.blockManagerId.host)
      (if (isHit) atHost else elsewhere) += 1
      place.buckets.foreach(bucket => hits.add(bucket -> isHit))
    }
  }
}
