package org.apache.spark.sql.colocate.ops.hosts

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.colocate.scan.BucketHosts
import org.apache.spark.sql.colocate.write.target.WrapsWrites
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.colocate.PassesRows

/**
 * The rows that a write into a member on HDFS takes. Its tasks know the hosts of the group's buckets.
 *
 * @param taskPerBucket is task i that of bucket i? Then it prefers the bucket's hosts. Not if there are more tasks than
 *                      buckets, because large ones are written by several
 */
case class PlacedWriteExec(member: WrittenMember, taskPerBucket: Boolean, child: SparkPlan) extends PassesRows {

  override protected def doExecute(): RDD[InternalRow] = {
    val rows = child.execute()
    BucketHosts.of(sparkContext, conf, Some(member.group)).fold(rows) { hosts =>
      val ofTasks = taskPerBucket && rows.getNumPartitions == hosts.byBucket.size
      new PlacedWriteRDD(rows, HostsOfBuckets(member.root, hosts.byBucket), ofTasks)
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): PlacedWriteExec = copy(child = newChild)
}

/** Places the writes into native members. */
class PlacesNativeWrites extends WrapsWrites {
  override def native(table: CatalogTable, rows: SparkPlan): SparkPlan =
    WrittenMember.ofNative(table).fold(rows)(PlacedWriteExec(_, taskPerBucket = true, rows))
}
