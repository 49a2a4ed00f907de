package org.apache.spark.sql.colocate.scan

import java.util.concurrent.ConcurrentHashMap
import scala.collection.mutable

import org.apache.spark.SparkContext
import org.apache.spark.sql.colocate.bridge.GroupState
import org.apache.spark.util.AccumulatorV2

/** Tasks that read a bucket: all, and those that ran on one of the bucket's hosts. */
private[sql] case class TaskCounts(all: Long, atHost: Long) {
  def +(other: TaskCounts): TaskCounts = TaskCounts(all + other.all, atHost + other.atHost)

  /** 1 if all tasks ran on one of the bucket's hosts. */
  def hitRate: Double = atHost.toDouble / all
}

/** Counts the tasks of one table by bucket, those that ended well. A task adds a bucket, and whether it was a hit. */
private[sql] class HostHits extends AccumulatorV2[(Int, Boolean), Map[Int, TaskCounts]] {

  private val counts = mutable.HashMap.empty[Int, TaskCounts]

  override def isZero: Boolean = synchronized(counts.isEmpty)
  override def reset(): Unit = synchronized(counts.clear())
  override def value: Map[Int, TaskCounts] = synchronized(counts.toMap)

  override def copy(): HostHits = {
    val copied = new HostHits
    value.foreach { case (bucket, found) => copied.addAll(bucket, found) }
    copied
  }

  override def add(read: (Int, Boolean)): Unit = addAll(read._1, TaskCounts(1, if (read._2) 1 else 0))

  override def merge(other: AccumulatorV2[(Int, Boolean), Map[Int, TaskCounts]]): Unit =
    other.value.foreach { case (bucket, found) => addAll(bucket, found) }

  private def addAll(bucket: Int, found: TaskCounts): Unit =
    synchronized { counts.update(bucket, counts.get(bucket).fold(found)(_ + found)) }
}

/** The counts of this driver's scans, by table. They begin with its application. */
private[colocate] object HostHits {

  private val byTable = new ConcurrentHashMap[String, HostHits]

  // The application has ended, and with it the registration of its counters.
  GroupState.whenReset(() => byTable.clear())

  /** @param table as `db.table` */
  private[scan] def of(context: SparkContext, table: String): HostHits = byTable.computeIfAbsent(
    table,
    _ => {
      val made = new HostHits
      context.register(made)
      made
    })

  /** For each bucket that was read; nothing where tasks prefer no hosts. */
  def counted(table: String): Map[Int, TaskCounts] =
    Option(byTable.get(table)).fold(Map.empty[Int, TaskCounts])(_.value)
}
