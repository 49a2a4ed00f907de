package org.apache.spark.sql.colocate.rules.shuffle

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.rules.Rewrite
import org.apache.spark.sql.colocate.write.BucketedWriteExec
import org.apache.spark.sql.execution.colocate.shuffle.{PackedExchangeExec, PackedForm}
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.{ColumnarRule, SortExec, SparkPlan}

/**
 * The one shuffle of a load carries whole rows of the table, and is what a load costs above stock Spark's; so its rows
 * are packed. A shuffle of the query that is written is Spark's matter.
 */
object PackShuffledRows extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan =
    if (!PackedForm.isPossible) plan
    else Rewrite("PackShuffledRows", plan)(_.transformUp {
      case write: BucketedWriteExec => write.copy(child = packed(write.child))
    })

  private def packed(input: SparkPlan): SparkPlan = input match {
    case sort: SortExec => sort.copy(child = packed(sort.child))
    case exchange: ShuffleExchangeExec => PackedExchangeExec.of(exchange)
    case other => other
  }
}

/** The same rule without AQE. */
object PackWithoutAqe extends ColumnarRule {
  override def preColumnarTransitions: Rule[SparkPlan] = PackShuffledRows
}
