package org.apache.spark.sql.colocate.compat.delta

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.delta.sources.DeltaSink

/** Delta's sink of a stream, and the partition columns that `writeStream.partitionBy` gave it. */
private[colocate] object StreamSinks {

  def pathOf(sink: Table): Path = deltas(sink).path

  def partitionsOf(sink: Table): Seq[String] = deltas(sink).partitionColumns

  def withoutPartitions(sink: Table): Table = deltas(sink).copy(partitionColumns = Nil)

  private def deltas(sink: Table): DeltaSink = sink.asInstanceOf[DeltaSink]
}
