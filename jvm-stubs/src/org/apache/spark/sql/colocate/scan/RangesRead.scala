package org.apache.spark.sql.colocate.scan

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.layout.{Evidence, EvidenceGap}
import org.apache.spark.sql.execution.FileSourceScanLike

/**
 * The scan of a table whose range partitions have different numbers of buckets. It is read by the greatest common
 * divisor of the numbers of those partitions that it reads. If that is too few tasks for the cores, a shuffle is
 * faster, and the table is read as if it had no buckets.
 */
private[colocate] object RangesRead {

  def judge(session: SparkSession, scan: FileSourceScanLike, evidence: Evidence): LayoutDecision = {
    val ranges = scan.selectedPartitions.filePartitionIterator.map(p => evidence.rangeOf(p.values)).toSet
    val layout = evidence.layout.ofRanges(ranges)
    val numbers = layout.partitions.toSeq.flatMap(all => ranges.flatMap(all.of)).sorted
    if (isEnough(layout.buckets, numbers, session.sparkContext.defaultParallelism)) {
      LayoutDecision.Proven(evidence.copy(layout = layout))
    } else {
      val gap = EvidenceGap.of("MIXED_BUCKETS",
        "table" -> evidence.table, "numbers" -> numbers.mkString(", "), "tasks" -> layout.buckets.toString)
      LayoutDecision.Refused(gap, native = false)
    }
  }

  /** A table of one number has as many tasks as its owner wants. */
  private def isEnough(tasks: Int, numbers: Seq[Int], cores: Int): Boolean =
    numbers.size < 2 || (tasks > 1 && tasks >= cores.min(numbers.min))
}
