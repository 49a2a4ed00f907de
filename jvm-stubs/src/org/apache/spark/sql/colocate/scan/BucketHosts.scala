package org.apache.spark.sql.colocate.scan

import org.apache.spark.SparkContext
import org.apache.spark.sql.colocate.bridge.GroupState
import org.apache.spark.sql.colocate.conf.Settings
import org.apache.spark.sql.colocate.evidence.Evidence
import org.apache.spark.sql.execution.datasources.FilePartition
import org.apache.spark.sql.internal.SQLConf

/** For each bucket of a table the names of the hosts that its group assigns to it, the first choice first. */
private[scan] case class BucketHosts(byBucket: IndexedSeq[Seq[String]]) {

  def hosts: Int = byBucket.flatten.distinct.size

  /** For each task its hosts, those with the most bytes of its files first. */
  def ofTasks(tasks: Seq[FilePartition], evidence: Evidence): IndexedSeq[Seq[String]] =
    tasks.toIndexedSeq.map { task =>
      val bytes = for {
        file <- task.files.toSeq
        bucket <- evidence.bucketOf(file).toSeq
        (host, rank) <- byBucket.lift(bucket).toSeq.flatten.zipWithIndex
      } yield (host, rank, file.length)
      val byHost = bytes.groupBy(_._1).map { case (host, parts) => (host, parts.map(_._3).sum, parts.map(_._2).min) }
      byHost.toSeq.sortBy { case (host, sum, rank) => (-sum, rank, host) }.take(BucketHosts.Most).map(_._1)
    }
}

private[scan] object BucketHosts {

  /** Spark names so many hosts for a task of a file scan, too. */
  private val Most = 3

  /** None where there is no choice (all tasks run in the driver), for a table in no group, or if switched off. */
  def of(context: SparkContext, conf: SQLConf, evidence: Evidence): Option[BucketHosts] =
    if (context.isLocal || !Settings.flag(conf, "spark.colocate.hosts.preferred")) None
    else evidence.group.flatMap(GroupState.current.hostsOf).map(BucketHosts(_)).filter(_.hosts > 0)
}
