package org.apache.spark.sql.colocate.rules.scan

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.layout.BucketColumn
import org.apache.spark.sql.colocate.rules.{Rewrite, RuleTable}
import org.apache.spark.sql.colocate.scan.{ColocatedScanExec, Prunable, PrunableScans}
import org.apache.spark.sql.execution.colocate.ValuesOfBuildSide
import org.apache.spark.sql.execution.joins.BroadcastHashJoinExec
import org.apache.spark.sql.execution.{InSubqueryExec, SparkPlan}

/**
 * Matches: a broadcast join whose other side is a member joined by its bucket keys.
 * Produces: a scan that reads only the buckets of the keys of the broadcast side, as dynamic partition pruning does for
 * partitions. The broadcast is finished before the first task of the scan starts. With AQE the rule runs for each query
 * stage, after the broadcasts that it uses. Without AQE it runs for the whole plan after the columnar transitions:
 * before them the broadcast in the filter would not equal the one that runs for the join, and would not be reused.
 * Not when: `spark.sql.exchange.reuse` is off, because the broadcast would run twice; or a native table has files that
 * would have to be checked first.
 */
object DynamicBucketPruning extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan =
    Rewrite.ofBuckets("DynamicBucketPruning", plan) {
      case reads if isActive => reads.transformUp { case join: BroadcastHashJoinExec => pruned(join) }
      case reads => reads
    }

  /** Only if Spark reuses Exchanges do the filter and the join share one broadcast. */
  def isActive: Boolean = RuleTable.isActive("DynamicBucketPruning") && conf.exchangeReuseEnabled

  private[colocate] def pruned(join: BroadcastHashJoinExec): BroadcastHashJoinExec =
    BroadcastSide.pruned(join, PrunableScans.of(join).filter(_.scan.mayPruneByKeys))(_.scan)(filtered(_, _))

  private def filtered(found: Prunable[ColocatedScanExec], side: BroadcastSide): ColocatedScanExec = {
    val scan = found.scan
    val id = NamedExpression.newExprId
    val bucket = BucketColumn.idOf(found.positions.map(side.key), scan.buckets)
    val values = ValuesOfBuildSide(s"buckets#${id.id}", side.keys, bucket, scan.buckets, side.plan)
    val filter = InSubqueryExec(BucketColumn.idOf(scan.keys, scan.buckets), values, id)
    scan.copy(bucketFilters = scan.bucketFilters :+ filter)
  }
}
