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
 * A member that is joined by its bucket keys with a broadcast side reads only the buckets in which that side has keys:
 * dynamic partition pruning for buckets. The broadcast is there anyway before the first task of the scan starts.
 *
 * Under AQE this is a rule for stages, whose broadcasts are finished; without it, for the whole plan, after the columnar
 * transitions, because only then is the broadcast what will be run.
 */
object DynamicBucketPruning extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan =
    Rewrite.ofBuckets("DynamicBucketPruning", plan) {
      case reads if isActive => reads.transformUp { case join: BroadcastHashJoinExec => pruned(join) }
      case reads => reads
    }

  /** Two plans of one broadcast are one only where Spark reuses exchanges. */
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
      // As will be done with the join's own next; the two must be recognised as one.
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
