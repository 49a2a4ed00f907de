package org.apache.spark.sql.colocate.rules.join

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.conf.Settings
import org.apache.spark.sql.colocate.evidence.{BucketFile, BucketFiles}
import org.apache.spark.sql.colocate.layout.Evidence
import org.apache.spark.sql.colocate.partitioning.TaskAssignment
import org.apache.spark.sql.colocate.scan.{ColocatedScanExec, ExchangeFreeSubtrees}
import org.apache.spark.sql.execution.FileSourceScanExec

/** Whether most cores would wait for the largest buckets if a scan is read by bucket. */
private[colocate] case class UnevenBuckets(session: SparkSession) {

  private def conf = session.sessionState.conf

  private lazy val most: Double = Settings.decimal(conf, "spark.colocate.aggregate.maxImbalance")

  /** What a scan by bucket reads. */
  def in(scan: ColocatedScanExec): Boolean = most > 0 && beyond(scan, most)

  /** What an ordinary scan would read by bucket. */
  def in(scan: FileSourceScanExec, evidence: Evidence): Boolean =
    most > 0 && are(BucketFiles.of(scan.relation.location, evidence, scan.partitionFilters).map(sizes), most)

  /**
   * Do its buckets take more than `times` as long as an even share for each core? Nothing is listed for a small table.
   */
  def beyond(scan: ColocatedScanExec, times: Double): Boolean = scan.relation.sizeInBytes > largest &&
    are(ExchangeFreeSubtrees.files(scan, scan.buckets).map(ExchangeFreeSubtrees.bytes(_, scan.buckets)), times)

  private def sizes(files: Seq[BucketFile]): Seq[Long] = files.groupMapReduce(_.bucket)(_.bytes)(_ + _).values.toSeq

  /** A bucket that Spark would not cut in an ordinary scan is never too large. */
  private def largest: Long = conf.filesMaxPartitionBytes

  private def are(sizes: Option[Seq[Long]], times: Double): Boolean = sizes.exists { bytes =>
    val cores = SpreadSettings(session).cores
    bytes.maxOption.exists(_ > largest) &&
    TaskAssignment.byResidue(bytes).makespan(cores, taskCost = 0) > times * bytes.sum / cores
  }
}
