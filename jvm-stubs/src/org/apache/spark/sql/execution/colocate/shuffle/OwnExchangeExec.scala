package org.apache.spark.sql.execution.colocate.shuffle

import org.apache.spark.ShuffleDependency
import org.apache.spark.serializer.Serializer
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.colocate.compat.OperatorScope
import org.apache.spark.sql.execution.exchange.{ShuffleExchangeExec, ShuffleOrigin}
import org.apache.spark.sql.execution.metric.SQLMetrics
import org.apache.spark.sql.execution.{SQLExecution, SparkPlan}

/** Spark's Exchange, except for the way its rows are written. The arguments are Spark's. */
abstract class OwnExchangeExec(
    outputPartitioning: Partitioning,
    child: SparkPlan,
    shuffleOrigin: ShuffleOrigin,
    advisoryPartitionSize: Option[Long])
    extends ShuffleExchangeExec(outputPartitioning, child, shuffleOrigin, advisoryPartitionSize) {
  import OwnExchangeExec.Shuffle

  /** The form of the rows. */
  protected def rowSerializer: Serializer

  /** The shuffle that is run, given Spark's. */
  protected def written(plain: Shuffle): Shuffle = plain

  /** The same Exchange of another child. */
  protected def over(child: SparkPlan): OwnExchangeExec

  @transient
  override lazy val shuffleDependency: Shuffle =
    OperatorScope.within(this) {
      val dependency = written(
        ShuffleExchangeExec
          .prepareShuffleDependency(inputRDD, child.output, outputPartitioning, rowSerializer, metrics))
      val partitions = longMetric("numPartitions")
      partitions.set(dependency.partitioner.numPartitions)
      val execution = sparkContext.getLocalProperty(SQLExecution.EXECUTION_ID_KEY)
      SQLMetrics.postDriverMetricUpdates(sparkContext, execution, Seq(partitions))
      dependency
    }

  // Spark drops a change that leaves a plan equal; and a reused Exchange is to be one of its kind.
  override def canEqual(other: Any): Boolean = getClass.isInstance(other)
  override def equals(other: Any): Boolean = canEqual(other) && super.equals(other)
  override def hashCode: Int = super.hashCode

  override protected def withNewChildInternal(newChild: SparkPlan): ShuffleExchangeExec = over(newChild)
}

object OwnExchangeExec {
  type Shuffle = ShuffleDependency[Int, InternalRow, InternalRow]

  /** With Spark's arguments and tags, by the given constructor. */
  def inPlaceOf(exchange: ShuffleExchangeExec)(
      make: (Partitioning, SparkPlan, ShuffleOrigin, Option[Long]) => OwnExchangeExec): OwnExchangeExec = {
    import exchange._
    val own = make(outputPartitioning, child, shuffleOrigin, advisoryPartitionSize)
    own.copyTagsFrom(exchange)
    own
  }
}
