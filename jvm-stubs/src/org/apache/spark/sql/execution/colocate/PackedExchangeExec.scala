package org.apache.spark.sql.execution.colocate

import org.apache.spark.ShuffleDependency
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.colocate.shim.OperatorScope
import org.apache.spark.sql.execution.{SQLExecution, SparkPlan}
import org.apache.spark.sql.execution.exchange.{ShuffleExchangeExec, ShuffleOrigin}
import org.apache.spark.sql.execution.metric.SQLMetrics

/** Spark's Exchange, in all but the form of the rows on their way: [[PackedForm]]. The arguments are Spark's. */
class PackedExchangeExec(
    outputPartitioning: Partitioning,
    child: SparkPlan,
    shuffleOrigin: ShuffleOrigin,
    advisoryPartitionSize: Option[Long])
    extends ShuffleExchangeExec(outputPartitioning, child, shuffleOrigin, advisoryPartitionSize) {

  override def nodeName: String = "PackedExchange"

  @transient
  override lazy val shuffleDependency: ShuffleDependency[Int, InternalRow, InternalRow] =
    OperatorScope.within(this) {
      val serializer = new PackedRowSerializer(PackedForm.of(child.output.map(_.dataType)), longMetric("dataSize"))
      val dependency =
        ShuffleExchangeExec.prepareShuffleDependency(inputRDD, child.output, outputPartitioning, serializer, metrics)
      val partitions = longMetric("numPartitions")
      partitions.set(dependency.partitioner.numPartitions)
      val execution = sparkContext.getLocalProperty(SQLExecution.EXECUTION_ID_KEY)
      SQLMetrics.postDriverMetricUpdates(sparkContext, execution, Seq(partitions))
      dependency
    }

  // Spark drops a change that leaves a plan equal; and a reused Exchange is to be one of its kind.
  override def canEqual(other: Any): Boolean = other.isInstanceOf[PackedExchangeExec]
  override def equals(other: Any): Boolean = canEqual(other) && super.equals(other)
  override def hashCode: Int = super.hashCode

  override protected def withNewChildInternal(newChild: SparkPlan): ShuffleExchangeExec =
    new PackedExchangeExec(outputPartitioning, newChild, shuffleOrigin, advisoryPartitionSize)
}

object PackedExchangeExec {

  def of(exchange: ShuffleExchangeExec): ShuffleExchangeExec = exchange match {
    case packed: PackedExchangeExec => packed
    case ShuffleExchangeExec(partitioning, child, origin, advised) =>
      val packed = new PackedExchangeExec(partitioning, child, origin, advised)
      packed.copyTagsFrom(exchange)
      packed
  }
}
