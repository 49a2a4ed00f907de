package org.apache.spark.sql.colocate.ops.hosts

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.{Partition, Partitioner, TaskContext}

/**
 * The same rows in the same tasks, which know the hosts of all buckets.
 *
 * @param taskPerBucket task i writes bucket i, and prefers its hosts: HDFS puts a block on the host of its writer
 */
private[hosts] class PlacedWriteRDD(rows: RDD[InternalRow], hosts: HostsOfBuckets, taskPerBucket: Boolean)
    extends RDD[InternalRow](rows) {

  override val partitioner: Option[Partitioner] = rows.partitioner

  override protected def getPartitions: Array[Partition] = firstParent[InternalRow].partitions

  override protected def getPreferredLocations(split: Partition): Seq[String] =
    if (taskPerBucket) hosts.byBucket(split.index) else Nil

  override def compute(split: Partition, context: TaskContext): Iterator[InternalRow] = {
    TaskHosts.set(context, hosts, Option.when(taskPerBucket)(split.index))
    firstParent[InternalRow].iterator(split, context)
  }
}
