package org.apache.spark.sql.colocate.scan

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.sql.colocate.evidence.files.{FileFacts, FileRows}
import org.apache.spark.sql.colocate.evidence.verify.FileTrust
import org.apache.spark.sql.colocate.layout.{Evidence, RowCount}
import org.apache.spark.sql.execution.FileSourceScanLike

/**
 * The rows of each bucket among the files that a scan of a native table selects, as DeltaRowCounts has them for a
 * snapshot. It is an upper bound: the buckets of the rows of strays are not known, so all of them are added to each
 * bucket.
 */
object NativeRowCounts {

  /** None where the rows of a file are not known. */
  def byBucket(scan: FileSourceScanLike, evidence: Evidence): Option[Int => RowCount] = {
    val trust = FileTrust(scan.relation, evidence)
    val known = trust.seen
    val files = selected(scan)
    facts(scan, evidence).map { facts =>
      val counts = files.map(file => RowCount(facts(file).rows, file.getLen))
      val buckets = files.map(f => Strays.bucketOf(f.getPath.getName, known.of(f), evidence, trust))
      val found = buckets.zip(counts).groupMapReduce(_._1)(_._2)(_ + _)
      val ofStrays = found.getOrElse(None, RowCount.None)
      bucket => found.getOrElse(Some(bucket), RowCount.None) + ofStrays
    }
  }

  /** All rows that the scan selects. */
  def all(scan: FileSourceScanLike, evidence: Evidence): Option[Long] =
    facts(scan, evidence).map(_.values.map(_.rows).sum)

  /** How many values an integer key can have, null not counted; None if a file has no statistics. */
  def keyValues(scan: FileSourceScanLike, evidence: Evidence, key: String): Option[Double] =
    facts(scan, evidence).map(_.values.filterNot(_.nulls(key)).toSeq.map(_.ranges.get(key))).collect {
      case ranges if ranges.nonEmpty && ranges.forall(_.isDefined) =>
        ranges.flatten.map(_._2).max.toDouble - ranges.flatten.map(_._1).min + 1
    }

  private def facts(scan: FileSourceScanLike, evidence: Evidence): Option[Map[FileStatus, FileFacts]] =
    FileRows(scan.relation, evidence.layout.keys).of(selected(scan))

  private def selected(scan: FileSourceScanLike): Seq[FileStatus] =
    scan.selectedPartitions.filePartitionIterator.flatMap(_.files).map(_.fileStatus).toSeq
}
