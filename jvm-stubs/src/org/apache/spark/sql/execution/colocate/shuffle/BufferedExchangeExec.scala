package org.apache.spark.sql.execution.colocate.shuffle

import org.apache.spark.serializer.Serializer
import org.apache.spark.shuffle.sort.BypassMergeSortShuffleHandle
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.colocate.compat.Dependencies
import org.apache.spark.sql.colocate.conf.Settings
import org.apache.spark.sql.execution.exchange.{ShuffleExchangeExec, ShuffleOrigin}
import org.apache.spark.sql.execution.metric.{SQLMetrics, SQLShuffleWriteMetricsReporter}
import org.apache.spark.sql.execution.{SparkPlan, UnsafeRowSerializer}

/** Spark's Exchange, except that a task with few rows writes them by [[BufferedWrite]]. The arguments are Spark's. */
class BufferedExchangeExec(
    outputPartitioning: Partitioning,
    child: SparkPlan,
    shuffleOrigin: ShuffleOrigin,
    advisoryPartitionSize: Option[Long])
    extends OwnExchangeExec(outputPartitioning, child, shuffleOrigin, advisoryPartitionSize) {
  import BufferedExchangeExec.Setting
  import OwnExchangeExec.Shuffle

  override lazy val metrics = Map(
    "dataSize" -> SQLMetrics.createSizeMetric(sparkContext, "data size"),
    "numPartitions" -> SQLMetrics.createMetric(sparkContext, "number of partitions"),
    BufferedWrite.Tasks -> SQLMetrics.createMetric(sparkContext, "tasks that wrote few rows at once")
  ) ++ readMetrics ++ SQLShuffleWriteMetricsReporter.createShuffleWriteMetrics(sparkContext)

  override protected def rowSerializer: Serializer =
    new UnsafeRowSerializer(child.output.size, longMetric("dataSize"))

  override protected def written(plain: Shuffle): Shuffle = plain.shuffleHandle match {
    case _: BypassMergeSortShuffleHandle[_, _] if plain.partitioner.numPartitions > 1 =>
      Dependencies.writtenBy(plain, write)
    case _ => plain
  }

  /** How its tasks write. */
  protected def write: BufferedWrite = new BufferedWrite(metrics, Settings.number(conf, Setting))

  override protected def over(child: SparkPlan): OwnExchangeExec =
    new BufferedExchangeExec(outputPartitioning, child, shuffleOrigin, advisoryPartitionSize)
}

object BufferedExchangeExec {
  val Setting = "spark.colocate.shuffle.bufferBytes"

  def of(exchange: ShuffleExchangeExec): ShuffleExchangeExec = exchange match {
    case own: OwnExchangeExec => own
    case other => OwnExchangeExec.inPlaceOf(other)(new BufferedExchangeExec(_, _, _, _))
  }
}
