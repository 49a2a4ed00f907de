package org.apache.spark.sql.execution.colocate.shuffle

import scala.util.control.NonFatal

import org.apache.spark.scheduler.MapStatus
import org.apache.spark.shuffle.{BaseShuffleHandle, ShuffleWriteMetricsReporter, ShuffleWriteProcessor}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLShuffleWriteMetricsReporter}
import org.apache.spark.{ShuffleDependency, SparkEnv, TaskContext}

/**
 * How a task of a shuffle writes its rows. For up to 200 partitions Spark's writer opens a file for each, and then
 * concatenates them: that is most of the cost of a shuffle of few rows. So the first rows are kept; if there are no
 * more, Spark's other writer sorts them by partition into one file, else they and the rest are written as usual.
 * Readers get the same rows in the same order.
 *
 * @param limit bytes of rows that a task keeps at most; the files' buffers would take more
 */
class BufferedWrite(val metrics: Map[String, SQLMetric], val limit: Long) extends ShuffleWriteProcessor {
  import BufferedWrite._

  override protected def createMetricsReporter(context: TaskContext): ShuffleWriteMetricsReporter =
    new SQLShuffleWriteMetricsReporter(context.taskMetrics().shuffleWriteMetrics, metrics)

  override def write(
      inputs: Iterator[_],
      dependency: ShuffleDependency[_, _, _],
      mapId: Long,
      mapIndex: Int,
      context: TaskContext): MapStatus =
    // Pushes the file, too.
    if (dependency.shuffleMergeAllowed) super.write(inputs, dependency, mapId, mapIndex, context)
    else {
      val pairs = inputs.asInstanceOf[Iterator[Pair]]
      val first = kept(pairs)
      if (first.isEmpty || pairs.hasNext) super.write(first.iterator ++ pairs, dependency, mapId, mapIndex, context)
      else atOnce(first, dependency.asInstanceOf[ShuffleDependency[Int, InternalRow, InternalRow]], mapId, context)
    }

  /** Copies: pair and row are the same objects each time. */
  protected def kept(pairs: Iterator[Pair]): Seq[Pair] = {
    val first = Seq.newBuilder[Pair]
    var room = limit
    while (room > 0 && pairs.hasNext) {
      val pair = pairs.next()
      val row = pair._2.asInstanceOf[UnsafeRow]
      first += ((pair._1, row.copy()))
      room -= row.getSizeInBytes + ObjectBytes
    }
    first.result()
  }

  private def atOnce(
      rows: Seq[Pair],
      dependency: ShuffleDependency[Int, InternalRow, InternalRow],
      mapId: Long,
      context: TaskContext): MapStatus = {
    val writer = SparkEnv.get.shuffleManager.getWriter[Int, InternalRow](
      new BaseShuffleHandle(dependency.shuffleId, dependency), mapId, context, createMetricsReporter(context))
    try {
      writer.write(rows.iterator)
      metrics(Tasks).add(1)
      writer.stop(success = true).get
    } catch {
      case e: Throwable =>
        try writer.stop(success = false) catch { case NonFatal(again) => e.addSuppressed(again) }
        throw e
    }
  }
}

object BufferedWrite {
  type Pair = Product2[Int, InternalRow]

  /** The metric. */
  val Tasks = "tasksAtOnce"

  /** What a kept row takes beside its bytes. */
  private val ObjectBytes = 64
}
