package org.apache.spark.sql.colocate.rules.scan

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.BuildLeft
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.rules.join.JoinSides
import org.apache.spark.sql.colocate.rules.{Rewrite, RuleTable, Rules}
import org.apache.spark.sql.colocate.scan.{BucketsOfBuildSide, ColocatedScanExec, Prunable, PrunableScans}
import org.apache.spark.sql.colocate.write.BucketedWrite
import org.apache.spark.sql.execution.adaptive.BroadcastQueryStageExec
import org.apache.spark.sql.execution.exchange.BroadcastExchangeLike
import org.apache.spark.sql.execution.joins.BroadcastHashJoinExec
import org.apache.spark.sql.execution.{CollapseCodegenStages, InSubqueryExec, SparkPlan}

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

  private def pruned(join: BroadcastHashJoinExec): SparkPlan = {
    val found = PrunableScans.of(join).filter(_.scan.mayPruneByKeys)
    if (found.isEmpty) join
    else broadcast(join).fold[SparkPlan](join) { side =>
      join.transformUp { case scan: ColocatedScanExec =>
        found.find(_.scan eq scan).fold(scan)(filtered(_, buildKeys(join), side))
      }
    }
  }

  private def broadcast(join: BroadcastHashJoinExec): Option[SparkPlan] =
    JoinSides.built(join) match {
      case stage: BroadcastQueryStageExec => Some(stage)
      // Spark will do the same to the join's own broadcast; an Exchange is reused only if its plan is equal.
      case exchange: BroadcastExchangeLike => Some(CollapseCodegenStages()(Rules.finish(exchange)))
      case _ => None
    }

  private def buildKeys(join: BroadcastHashJoinExec): Seq[Expression] =
    if (join.buildSide == BuildLeft) join.leftKeys else join.rightKeys

  private def filtered(found: Prunable, keys: Seq[Expression], side: SparkPlan): ColocatedScanExec = {
    val scan = found.scan
    val id = NamedExpression.newExprId
    val values = BucketsOfBuildSide(s"buckets#${id.id}", keys, found.positions, scan.buckets, side)
    val filter = InSubqueryExec(BucketedWrite.bucketId(scan.keys, scan.buckets), values, id)
    scan.copy(bucketFilters = scan.bucketFilters :+ filter)
  }
}
