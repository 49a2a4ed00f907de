package org.apache.spark.sql.colocate.evidence.verify

import org.apache.spark.SparkContext
import org.apache.spark.sql.colocate.evidence.files.FileStamp
import org.apache.spark.util.AccumulatorV2

/**
 * The findings of tasks about the files that they read: file -> is it a stray. They reach the driver when a task ends,
 * also when it fails.
 *
 * @param report called on the driver with each task's findings; it must not wait for anything
 */
class CheckLog private (@transient private val report: Map[FileStamp, Boolean] => Unit)
    extends AccumulatorV2[(FileStamp, Boolean), Map[FileStamp, Boolean]] {

  private var found = Map.empty[FileStamp, Boolean]

  // For the ends of tasks alone.
  override def excludeFromHeartbeat: Boolean = true

  override def isZero: Boolean = found.isEmpty
  override def value: Map[FileStamp, Boolean] = found
  override def reset(): Unit = found = Map.empty
  override def add(file: (FileStamp, Boolean)): Unit = found += file

  override def copy(): CheckLog = {
    val same = new CheckLog(report)
    same.found = found
    same
  }

  override def merge(other: AccumulatorV2[(FileStamp, Boolean), Map[FileStamp, Boolean]]): Unit =
    if (!other.isZero) {
      found ++= other.value
      if (report != null) report(other.value)
    }
}

object CheckLog {
  def register(context: SparkContext)(report: Map[FileStamp, Boolean] => Unit): CheckLog = {
    val log = new CheckLog(report)
    log.register(context, name = None, countFailedValues = true)
    log
  }
}
