package org.apache.spark.sql.execution.colocate

import org.apache.spark.ShuffleDependency
import org.apache.spark.shuffle.sort.BypassMergeSortShuffleHandle
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.colocate.Settings
import org.apache.spark.sql.colocate.plan.PlantedBugs
import org.apache.spark.sql.colocate.shim.{Dependencies, OperatorScope}
import org.apache.spark.sql.execution.{SQLExecution, SparkPlan, UnsafeRowSerializer}
import org.apache.spark.sql.execution.exchange.{ShuffleExchangeExec, ShuffleOrigin}
import org.apache.spark.sql.execution.metric.{SQLMetrics, SQLShuffleWriteMetricsReporter}

/** Spark's Exchange, in all but how a task with few rows writes them: [[BufferedWrite]]. The arguments are Spark's. */
class BufferedExchangeExec(
    outputPartitioning: Partitioning,
    child: SparkPlan,
    shuffleOrigin: ShuffleOrigin,
    advisoryPartitionSize: Option[Long])
    extends ShuffleExchangeExec(outputPartitioning, child, shuffleOrigin, advisoryPartitionSize) {
  import BufferedExchangeExec._

  override lazy val metrics = Map(
    "dataSize" -> SQLMetrics.createSizeMetric(sparkContext, "data size"),
    "numPartitions" -> SQLMetrics.createMetric(sparkContext, "number of partitions"),
    BufferedWrite.Tasks -> SQLMetrics.createMetric(sparkContext, "tasks that wrote few rows at once")
  ) ++ readMetrics ++ SQLShuffleWriteMetricsReporter.createShuffleWriteMetrics(sparkContext)

  @transient
  override lazy val shuffleDependency: ShuffleDependency[Int, InternalRow, InternalRow] =
    OperatorScope.within(this) {
      val serializer = new UnsafeRowSerializer(child.output.size, longMetric("dataSize"))
      val dependency = buffered(
        ShuffleExchangeExec.prepareShuffleDependency(inputRDD, child.output, outputPartitioning, serializer, metrics))
      val partitions = longMetric("numPartitions")
      partitions.set(dependency.partitioner.numPartitions)
      val execution = sparkContext.getLocalProperty(SQLExecution.EXECUTION_ID_KEY)
      SQLMetrics.postDriverMetricUpdates(sparkContext, execution, Seq(partitions))
      dependency
    }

  private def buffered(plain: Shuffle): Shuffle = plain.shuffleHandle match {
    case _: BypassMergeSortShuffleHandle[_, _] if plain.partitioner.numPartitions > 1 =>
      Dependencies.writtenBy(plain, PlantedBugs.write(new BufferedWrite(metrics, Settings.number(conf, Setting))))
    case _ => plain
  }

  // Spark drops a change that leaves a plan equal; and a reused Exchange is to be one of its kind.
  override def canEqual(other: Any): Boolean = other.isInstanceOf[BufferedExchangeExec]
  override def equals(other: Any): Boolean = canEqual(other) && super.equals(other)
  override def hashCode: Int = super.hashCode

  override protected def withNewChildInternal(newChild: SparkPlan): ShuffleExchangeExec =
    new BufferedExchangeExec(outputPartitioning, newChild, shuffleOrigin, advisoryPartitionSize)
}

object BufferedExchangeExec {
  private type Shuffle = ShuffleDependency[Int, InternalRow, InternalRow]

  val Setting = "spark.colocate.shuffle.bufferBytes"

  /** Of Spark's own kind: one that packs its rows stays. */
  def of(exchange: ShuffleExchangeExec): ShuffleExchangeExec =
    if (exchange.getClass != classOf[ShuffleExchangeExec]) exchange
    else {
      val buffered = new BufferedExchangeExec(
        exchange.outputPartitioning,
        exchange.child,
        exchange.shuffleOrigin,
        exchange.advisoryPartitionSize)
      buffered.copyTagsFrom(exchange)
      buffered
    }
}
