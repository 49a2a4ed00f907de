package org.apache.spark.sql.colocate.evidence

import java.net.URI

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.expressions.{DynamicPruning, Expression}
import org.apache.spark.sql.colocate.evidence.delta.DeltaIndexes
import org.apache.spark.sql.colocate.layout.{
  BucketColumn, BucketFileName, BucketLayout, BucketSource, Evidence, RangeColumn
}
import org.apache.spark.sql.execution.datasources.FileIndex

/** A file of a member as the planner sees it, before any task reads it. */
case class BucketFile(bucket: Int, path: Path, bytes: Long)

/**
 * The files that a scan will read at most, for estimates of sizes: for Delta those that the prepared scan chose,
 * for native tables the index's cached listing. Neither starts a job.
 */
object BucketFiles {

  /** None if a file has no bucket: then the scan itself reports it. */
  def of(index: FileIndex, evidence: Evidence, partitionFilters: Seq[Expression]): Option[Seq[BucketFile]] = {
    val files = evidence.source match {
      case _: BucketSource.PartitionValue => delta(index, evidence.layout)
      case BucketSource.FileName => native(index, evidence.layout.buckets, partitionFilters)
    }
    def isKnown(bucket: Option[Int]): Boolean = bucket.exists(b => b >= 0 && b < evidence.layout.buckets)
    Option.when(files.forall(file => isKnown(file._1)))(files.map { case (b, path, bytes) =>
      BucketFile(b.get, path, bytes)
    })
  }

  private def delta(index: FileIndex, layout: BucketLayout): Seq[(Option[Int], Path, Long)] = {
    val snapshot = DeltaIndexes.snapshotOf(index)
    val (bucket, range) = (snapshot.physicalName(BucketColumn.Name), snapshot.physicalName(RangeColumn.Name))
    val root = DeltaIndexes.dataPath(index)
    DeltaIndexes.preparedFiles(index).map { file =>
      def value(column: String) = file.partitionValues.get(column).flatMap(Option(_))
      val found = value(bucket).flatMap(_.toIntOption).flatMap(layout.bucketOf(value(range), _))
      (found, located(root, file.path), file.bytes)
    }
  }

  /** As Delta's log has it: a relative or an absolute URI. */
  private[colocate] def located(root: Path, logged: String): Path = {
    val path = new Path(new URI(logged))
    if (path.isAbsolute) path else new Path(root, path)
  }

  private def native(index: FileIndex, buckets: Int, filters: Seq[Expression]): Seq[(Option[Int], Path, Long)] =
    index.listFiles(filters.filterNot(_.exists(_.isInstanceOf[DynamicPruning])), Nil).flatMap(_.files).map { file =>
      (BucketFileName.bucketOf(file.getPath.getName, buckets), file.getPath, file.getLen)
    }
}
