package org.apache.spark.sql.colocate.rules.shuffle

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.rules.OnAnyPlan
import org.apache.spark.sql.colocate.write.target.BucketedWriteExec
import org.apache.spark.sql.execution.colocate.shuffle.{PackedExchangeExec, PackedForm}
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.{SortExec, SparkPlan}

/**
 * Matches: the shuffle that brings the rows of a write to its table's buckets. It carries whole rows of the table, and
 * is what such a write costs more than stock Spark's.
 * Produces: a shuffle whose rows are packed without the padding of Spark's row format.
 * Not when: the shuffle belongs to the query that is written.
 */
object PackShuffledRows extends Rule[SparkPlan] with OnAnyPlan {

  override val changesLayout = false

  override def apply(plan: SparkPlan): SparkPlan =
    if (!PackedForm.isPossible) plan
    else plan.transformUp { case write: BucketedWriteExec => write.copy(child = packed(write.child)) }

  private def packed(input: SparkPlan): SparkPlan = input match {
    case sort: SortExec => sort.copy(child = packed(sort.child))
    case exchange: ShuffleExchangeExec => PackedExchangeExec.of(exchange)
    case other => other
  }
}
