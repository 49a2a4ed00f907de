package org.apache.spark.sql.colocate.testing

import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.colocate.shuffle.{BufferedExchangeExec, BufferedWrite, OwnExchangeExec}
import org.apache.spark.sql.execution.exchange.{ShuffleExchangeExec, ShuffleOrigin}
import org.apache.spark.sql.execution.metric.SQLMetric

/** The shuffle whose tasks lose the rows that they kept, where more come. */
class LosingExchange(partitioning: Partitioning, child: SparkPlan, origin: ShuffleOrigin, advisorySize: Option[Long])
    extends BufferedExchangeExec(partitioning, child, origin, advisorySize) {

  override protected def write: BufferedWrite = {
    val right = super.write
    new LosingWrite(right.metrics, right.limit)
  }

  override protected def over(child: SparkPlan): OwnExchangeExec =
    new LosingExchange(partitioning, child, origin, advisorySize)
}

object LosingExchange {
  def of(exchange: BufferedExchangeExec): ShuffleExchangeExec = exchange match {
    case losing: LosingExchange => losing
    case other => OwnExchangeExec.inPlaceOf(other)(new LosingExchange(_, _, _, _))
  }
}

class LosingWrite(metrics: Map[String, SQLMetric], limit: Long) extends BufferedWrite(metrics, limit) {

  override protected def kept(pairs: Iterator[BufferedWrite.Pair]): Seq[BufferedWrite.Pair] = {
    val first = super.kept(pairs)
    if (pairs.hasNext) Nil else first
  }
}
