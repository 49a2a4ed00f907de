package org.apache.spark.sql.execution.colocate.shuffle

import org.apache.spark.serializer.Serializer
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.{ShuffleExchangeExec, ShuffleOrigin}

/** Spark's Exchange, except that rows are shuffled in their [[PackedForm]]. The arguments are Spark's. */
class PackedExchangeExec(
    outputPartitioning: Partitioning,
    child: SparkPlan,
    shuffleOrigin: ShuffleOrigin,
    advisoryPartitionSize: Option[Long])
    extends OwnExchangeExec(outputPartitioning, child, shuffleOrigin, advisoryPartitionSize) {

  override def nodeName: String = "PackedExchange"

  override protected def rowSerializer: Serializer =
    new PackedRowSerializer(PackedForm.of(child.output.map(_.dataType)), longMetric("dataSize"))

  override protected def over(child: SparkPlan): OwnExchangeExec =
    new PackedExchangeExec(outputPartitioning, child, shuffleOrigin, advisoryPartitionSize)
}

object PackedExchangeExec {

  def of(exchange: ShuffleExchangeExec): ShuffleExchangeExec = exchange match {
    case packed: PackedExchangeExec => packed
    case other => OwnExchangeExec.inPlaceOf(other)(new PackedExchangeExec(_, _, _, _))
  }
}
