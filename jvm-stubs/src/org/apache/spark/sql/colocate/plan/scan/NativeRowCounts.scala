package org.apache.spark.sql.colocate.plan.scan

import org.apache.spark.sql.colocate.layout.{Evidence, RowCount}
import org.apache.spark.sql.colocate.trust.{FileRows, FileTrust}
import org.apache.spark.sql.execution.FileSourceScanLike

/**
 * Rows of each bucket among the files that a scan of a native table selects, as `DeltaRowCounts` tells of a snapshot.
 * It is an upper bound: which buckets the rows of strays belong to is not known, so each bucket may get all of them.
 */
object NativeRowCounts {

  /** None where the rows of a file are not known. */
  def byBucket(scan: FileSourceScanLike, evidence: Evidence): Option[Int => RowCount] = {
    val trust = FileTrust(scan.relation, evidence)
    val known = trust.seen
    val files = scan.selectedPartitions.filePartitionIterator.flatMap(_.files).map(_.fileStatus).toSeq
    FileRows(scan.relation).of(files).map { rows =>
      val counts = files.map(file => RowCount(rows(file), file.getLen))
      val buckets = files.map(f => Strays.bucketOf(f.getPath.getName, known.of(f), evidence, trust))
      val found = buckets.zip(counts).groupMapReduce(_._1)(_._2)(_ + _)
      val ofStrays = found.getOrElse(None, RowCount.None)
      bucket => found.getOrElse(Some(bucket), RowCount.None) + ofStrays
    }
  }
}
