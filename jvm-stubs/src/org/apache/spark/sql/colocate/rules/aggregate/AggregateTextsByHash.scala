package org.apache.spark.sql.colocate.rules.aggregate

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.colocate.rules.Rewrite
import org.apache.spark.sql.execution.aggregate.SortAggregateExec
import org.apache.spark.sql.execution.colocate.aggregate.AnyTypeHashAggregateExec
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}

/**
 * Matches: a sort aggregate in one step (mode Complete) with the sort that it needs. Spark chooses it where a function
 * keeps strings or other values of no fixed length, such as `max` and `max_by` of strings.
 * Produces: a hash aggregate that takes such values, without the sort. Where an operator above relies on the order, the
 * groups are sorted instead of the rows. The rule runs after the columnar transitions, so that all earlier rules see
 * Spark's own aggregate; and before DropPlanningNodes, because those may require an order.
 * Not when: the rows are in order anyway; an aggregate has DISTINCT or FILTER; or equal keys may differ in their bytes,
 * as strings with some collations.
 */
object AggregateTextsByHash extends ColumnarRule {

  override def postColumnarTransitions: Rule[SparkPlan] =
    Rewrite.ofBuckets("AggregateTextsByHash", _) { plan =>
      KeptOrder.of(plan)(plan.transformUp {
        case all: SortAggregateExec if fits(all) => OneStep.unsorted(all).fold[SparkPlan](all)(byHash(all, _))
      })
    }

  private def fits(all: SortAggregateExec): Boolean =
    OneStep.isPlain(all) && all.aggregateExpressions.nonEmpty &&
      all.groupingExpressions.forall(key => UnsafeRowUtils.isBinaryStable(key.dataType))

  private def byHash(all: SortAggregateExec, rows: SparkPlan): SparkPlan =
    AnyTypeHashAggregateExec(
      all.requiredChildDistributionExpressions,
      all.isStreaming,
      all.numShufflePartitions,
      all.groupingExpressions,
      all.aggregateExpressions,
      all.aggregateAttributes,
      all.initialInputBufferOffset,
      all.resultExpressions,
      rows)
}
