package org.apache.spark.sql.colocate.scan

import org.apache.spark.SparkContext
import org.apache.spark.sql.colocate.bridge.GroupState
import org.apache.spark.sql.colocate.conf.Settings
import org.apache.spark.sql.colocate.layout.Evidence
import org.apache.spark.sql.execution.datasources.FilePartition
import org.apache.spark.sql.internal.SQLConf

/** For each bucket of a table the names of the hosts that its group assigns to it, the first choice first. */
private[colocate] case class BucketHosts(byBucket: IndexedSeq[Seq[String]]) {

  def hosts: Int = byBucket.flatten.distinct.size

  def ofTasks(tasks: Seq[FilePartition], evidence: Evidence): IndexedSeq[TaskPlace] =
    tasks.toIndexedSeq.map { task =>
      val files = for {
        file <- task.files.toSeq
        bucket <- evidence.bucketOf(file)
      } yield (bucket, file.length)
      TaskPlace(files.map(_._1).distinct, hostsOf(files))
    }

  private def hostsOf(files: Seq[(Int, Long)]): Seq[String] = {
    val bytes = for {
      (bucket, length) <- files
      (host, rank) <- byBucket.lift(bucket).toSeq.flatten.zipWithIndex
    } yield (host, rank, length)
    val byHost = bytes.groupBy(_._1).map { case (host, parts) => (host, parts.map(_._3).sum, parts.map(_._2).min) }
    byHost.toSeq.sortBy { case (host, sum, rank) => (-sum, rank, host) }.take(BucketHosts.Most).map(_._1)
  }
}

private[colocate] object BucketHosts {

  /** Spark names as many hosts for a task of a file scan. */
  private val Most = 3

  /** None where there is no choice (all tasks run in the driver), for a table in no group, or if switched off. */
  def of(context: SparkContext, conf: SQLConf, group: Option[String]): Option[BucketHosts] =
    if (context.isLocal || !Settings.flag(conf, "spark.colocate.hosts.preferred")) None
    else group.flatMap(GroupState.current.hostsOf).map(BucketHosts(_)).filter(_.hosts > 0)
}
