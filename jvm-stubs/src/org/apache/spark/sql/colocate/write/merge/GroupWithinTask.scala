package org.apache.spark.sql.colocate.write.merge

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.exchange.{ENSURE_REQUIREMENTS, ShuffleExchangeExec}

/**
 * Drops the Exchange of an aggregate whose groups can't span tasks (proof: [[RowOrigin]]): MERGE groups matches by a
 * row id of the target to find rows that match twice, UPDATE and DELETE look for the distinct names of touched files,
 * and deletion vectors are collected by file.
 */
object GroupWithinTask extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan = plan.transformUp {
    case last: BaseAggregateExec =>
      last.child match {
        case ShuffleExchangeExec(_: HashPartitioning, first: BaseAggregateExec, ENSURE_REQUIREMENTS, _) =>
          grouped(first).fold[SparkPlan](last) { within =>
            within.copyTagsFrom(first)
            last.withNewChildren(Seq(first.withNewChildren(Seq(within))))
          }
        case _ => last
      }
  }

  private def grouped(first: BaseAggregateExec): Option[WithinTaskExec] = {
    val origins = first.groupingExpressions.collect { case a: Attribute => a -> RowOrigin.of(a, first.child) }
    origins.collectFirst { case (a, Some(origin)) if pays(origin, first) => WithinTaskExec(a, origin, first.child) }
  }

  /** A row id serves any scan; grouping by file needs whole files, which is worth no loss of cores. */
  private def pays(origin: RowOrigin, first: BaseAggregateExec): Boolean = origin match {
    case RowOrigin.RowId => true
    case RowOrigin.ScannedFile => TaskCount.isKept(first)
  }
}
