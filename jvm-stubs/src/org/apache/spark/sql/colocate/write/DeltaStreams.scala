package org.apache.spark.sql.colocate.write

import org.apache.spark.sql.catalyst.streaming.WriteToStream
import org.apache.spark.sql.colocate.compat.hooks.{DeltaHooks, SelfCheck}
import org.apache.spark.sql.colocate.evidence.delta.DeltaReflection
import org.apache.spark.sql.colocate.write.target.BucketedTarget
import org.apache.spark.sql.connector.catalog.Table

/** Delta's sink of a stream, and the partition columns that `writeStream.partitionBy` gave it. */
object DeltaStreams {

  private[colocate] val Sink = "org.apache.spark.sql.delta.sources.DeltaSink"

  def isSink(sink: Table): Boolean = sink.getClass.getName == Sink && SelfCheck.has(DeltaHooks.Sink)

  def path(sink: Table): String = DeltaReflection.call(sink, "path").toString

  /** Delta compares named partition columns with all of the table, the bucket column among them. */
  def withoutPartitions(stream: WriteToStream, target: BucketedTarget): WriteToStream = {
    val named = partitions(stream.sink)
    if (named.isEmpty || !target.isPartitionedBy(named)) stream
    else stream.copy(sink = copied(stream.sink, Nil))
  }

  private def partitions(sink: Table): Seq[String] =
    DeltaReflection.call(sink, "partitionColumns").asInstanceOf[Seq[String]]

  /** The sink is a case class: its fields, with other partition columns. */
  private def copied(sink: Table, partitions: Seq[String]): Table = {
    val fields = sink.asInstanceOf[Product]
    val values = fields.productElementNames.zip(fields.productIterator).map {
      case ("partitionColumns", _) => partitions
      case (_, value) => value.asInstanceOf[AnyRef]
    }
    val copy = sink.getClass.getMethods.find(_.getName == "copy").get
    copy.invoke(sink, values.toSeq: _*).asInstanceOf[Table]
  }
}
