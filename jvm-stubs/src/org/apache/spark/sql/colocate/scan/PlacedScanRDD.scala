package org.apache.spark.sql.colocate.scan

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.catalyst.{FileSourceOptions, InternalRow}
import org.apache.spark.sql.execution.datasources.{FilePartition, FileScanRDD, PartitionedFile}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.types.StructType
import org.apache.spark.{Partition, SparkEnv, TaskContext}

/**
 * Spark's RDD of a file scan whose tasks prefer the hosts of their buckets to those of the files' blocks. All members
 * of a group prefer the same host for a bucket, so what one query leaves in the caches of a host helps the next.
 *
 * @param places    for each task the hosts that it prefers; where there are none, those of its blocks
 * @param atHost    counts the tasks that run on one of their hosts
 * @param elsewhere counts the others
 * @param hits      counts both by bucket, for all scans of the table
 */
class PlacedScanRDD(
    session: SparkSession,
    read: PartitionedFile => Iterator[InternalRow],
    tasks: Seq[FilePartition],
    columns: StructType,
    fileColumns: Seq[AttributeReference],
    extractors: Map[String, PartitionedFile => Any],
    options: FileSourceOptions,
    places: IndexedSeq[TaskPlace],
    atHost: SQLMetric,
    elsewhere: SQLMetric,
    hits: HostHits)
    extends FileScanRDD(session, read, tasks, columns, fileColumns, extractors, options) {

  override protected def getPreferredLocations(split: Partition): Seq[String] =
    Some(places(split.index).hosts).filter(_.nonEmpty).getOrElse(super.getPreferredLocations(split))

  override def compute(split: Partition, context: TaskContext): Iterator[InternalRow] = {
    val place = places(split.index)
    if (place.hosts.nonEmpty) {
      val isHit = place.hosts.contains(SparkEnv.get.blockManager.blockManagerId.host)
      (if (isHit) atHost else elsewhere) += 1
      place.buckets.foreach(bucket => hits.add(bucket -> isHit))
    }
    super.compute(split, context)
  }
}
