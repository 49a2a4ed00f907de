package org.apache.spark.sql.colocate.write.merge

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.exchange.{ENSURE_REQUIREMENTS, ShuffleExchangeExec}

/**
 * Matches: an aggregate with an Exchange between its two steps whose groups can't span tasks ([[RowOrigin]] says why):
 * MERGE groups matches by a row id of the target to find rows that match twice, UPDATE and DELETE look for the distinct
 * names of touched files, and deletion vectors are collected by file.
 * Produces: the same aggregate without the Exchange.
 * Not when: rows are grouped by file, and reading whole files would leave cores without work.
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

  /** A row id works with any scan; grouping by file needs scans of whole files, which must not leave cores idle. */
  private def pays(origin: RowOrigin, first: BaseAggregateExec): Boolean = origin match {
    case RowOrigin.RowId => true
    case RowOrigin.ScannedFile => TaskCount.isKept(first)
  }
}
