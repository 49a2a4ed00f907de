package org.apache.spark.sql.colocate.write.merge

import org.apache.spark.sql.colocate.evidence.delta.DeltaIndexes
import org.apache.spark.sql.colocate.layout.BucketColumn
import org.apache.spark.sql.colocate.scan.ColocatedScanExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.joins.ShuffledJoin

/** Compares the cores that reading by bucket uses with those that reading by bytes would use. */
private[colocate] object TaskCount {

  /** With a shuffled join, the bucket count gives the number of tasks anyway. */
  def isKept(plan: SparkPlan): Boolean = plan.exists(_.isInstanceOf[ShuffledJoin]) || plan.collectLeaves().forall {
    case scan: ColocatedScanExec => isKept(scan)
    case _ => true
  }

  private def isKept(scan: ColocatedScanExec): Boolean = {
    val session = scan.relation.sparkSession
    val filled = filledBuckets(scan)
    val read = filled.filter(bucket => scan.optionalBucketSet.forall(_.get(bucket)))
    val bytes = scan.relation.location.sizeInBytes / filled.size.max(1) * read.size
    val splits = bytes / session.sessionState.conf.filesMaxPartitionBytes + 1
    read.isEmpty || read.size >= splits.min(session.sparkContext.defaultParallelism.toLong)
  }

  private def filledBuckets(scan: ColocatedScanExec): Set[Int] = {
    val index = scan.relation.location
    if (DeltaIndexes.isOfTransaction(index)) {
      val bucket = DeltaIndexes.snapshotOf(index).physicalName(BucketColumn.Name)
      val values = DeltaIndexes.countedFilesOf(index).flatMap(_.partitionValues.get(bucket))
      values.flatMap(Option(_)).flatMap(_.toIntOption).map(_ % scan.buckets).toSet
    } else (0 until scan.buckets).toSet
  }
}
