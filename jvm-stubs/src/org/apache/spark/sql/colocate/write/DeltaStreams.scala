package org.apache.spark.sql.colocate.write

import org.apache.spark.sql.catalyst.streaming.WriteToStream
import org.apache.spark.sql.colocate.compat.delta.{DeltaClasses, StreamSinks}
import org.apache.spark.sql.colocate.compat.hooks.{DeltaHooks, SelfCheck}
import org.apache.spark.sql.colocate.write.target.BucketedTarget
import org.apache.spark.sql.connector.catalog.Table

/** Delta's sink of a stream, and the partition columns that `writeStream.partitionBy` gave it. */
object DeltaStreams {

  def isSink(sink: Table): Boolean = DeltaClasses.is(sink, DeltaClasses.Sink) && SelfCheck.has(DeltaHooks.Sink)

  def path(sink: Table): String = StreamSinks.pathOf(sink).toString

  /** Delta compares named partition columns with all of the table, the bucket column among them. */
  def withoutPartitions(stream: WriteToStream, target: BucketedTarget): WriteToStream = {
    val named = StreamSinks.partitionsOf(stream.sink)
    if (named.isEmpty || !target.isPartitionedBy(named)) stream
    else stream.copy(sink = StreamSinks.withoutPartitions(stream.sink))
  }
}
