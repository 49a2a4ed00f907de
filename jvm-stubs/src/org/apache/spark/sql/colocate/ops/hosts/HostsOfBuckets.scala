package org.apache.spark.sql.colocate.ops.hosts

import java.util.concurrent.ConcurrentHashMap

import org.apache.hadoop.fs.Path
import org.apache.spark.TaskContext
import org.apache.spark.sql.colocate.layout.{BucketColumn, BucketFileName}

/**
 * The hosts of a table's buckets, the first choice first.
 *
 * @param root the path of the table's folder, without file system and name node
 */
private[hosts] case class HostsOfBuckets(root: String, byBucket: IndexedSeq[Seq[String]]) {

  /** The hosts of a file that is written into the table; none for other files, or if its bucket is not known. */
  def of(file: Path, bucketOfTask: Option[Int]): Seq[String] =
    if (!file.toUri.getPath.startsWith(s"$root/")) Nil
    else bucketOf(file).orElse(bucketOfTask).flatMap(byBucket.lift).getOrElse(Nil)

  /** The bucket in the folder of a Delta table's file, or in a native file's name. */
  private def bucketOf(file: Path): Option[Int] =
    HostsOfBuckets.Folder.findFirstMatchIn(file.toUri.getPath).flatMap(_.group(1).toIntOption)
      .orElse(BucketFileName.bucketOf(file.getName, byBucket.size))
}

private[hosts] object HostsOfBuckets {
  private val Folder = s"/${BucketColumn.Name}=(\\d+)/".r
}

/** What the running tasks of this process write, each for itself. It goes with the task. */
private[hosts] object TaskHosts {

  private case class Written(hosts: HostsOfBuckets, bucket: Option[Int])

  private val byTask = new ConcurrentHashMap[Long, Written]

  def set(context: TaskContext, hosts: HostsOfBuckets, bucket: Option[Int]): Unit = {
    val task = context.taskAttemptId()
    byTask.put(task, Written(hosts, bucket))
    context.addTaskCompletionListener[Unit](_ => byTask.remove(task))
  }

  /** The hosts of a file that this thread's task is about to create; none outside of such a task. */
  def of(file: Path): Seq[String] =
    Option(TaskContext.get()).flatMap(task => Option(byTask.get(task.taskAttemptId()))).fold(Seq.empty[String]) {
      case Written(hosts, bucket) => hosts.of(file, bucket)
    }
}
