package org.apache.spark.sql.colocate.scan

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.catalyst.{FileSourceOptions, InternalRow}
import org.apache.spark.sql.execution.datasources.{FilePartition, FileScanRDD, PartitionedFile}
import org.apache.spark.sql.types.StructType
import org.apache.spark.{Partition, TaskContext}

/**
 * Spark's RDD of a file scan whose tasks prefer the hosts of their buckets to those of the files' blocks. All members
 * of a group prefer the same host for a bucket, so what one query leaves in the caches of a host helps the next.
 *
 * @param places the hosts that each task prefers; where there are none, those of its blocks
 */
class PlacedScanRDD(
    session: SparkSession,
    read: PartitionedFile => Iterator[InternalRow],
    tasks: Seq[FilePartition],
    columns: StructType,
    fileColumns: Seq[AttributeReference],
    extractors: Map[String, PartitionedFile => Any],
    options: FileSourceOptions,
    places: TaskPlaces)
    extends FileScanRDD(session, read, tasks, columns, fileColumns, extractors, options) {

  override protected def getPreferredLocations(split: Partition): Seq[String] =
    Some(places.hostsOf(split.index)).filter(_.nonEmpty).getOrElse(super.getPreferredLocations(split))

  override def compute(split: Partition, context: TaskContext): Iterator[InternalRow] = {
    places.count(split.index)
    super.compute(split, context)
  }
}
