package org.apache.spark.sql.colocate.rules.scan

import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression}
import org.apache.spark.sql.catalyst.optimizer.BuildLeft
import org.apache.spark.sql.colocate.rules.ColumnarRules
import org.apache.spark.sql.colocate.rules.join.JoinSides
import org.apache.spark.sql.colocate.scan.Prunable
import org.apache.spark.sql.execution.adaptive.BroadcastQueryStageExec
import org.apache.spark.sql.execution.exchange.BroadcastExchangeLike
import org.apache.spark.sql.execution.joins.BroadcastHashJoinExec
import org.apache.spark.sql.execution.{CollapseCodegenStages, SparkPlan}

/** The build side of a broadcast join, as a filter on a scan of the other side needs it. */
private[colocate] case class BroadcastSide(plan: SparkPlan, keys: Seq[Expression]) {

  /** One of the keys, for ValuesOfBuildSide. */
  def key(at: Int): Expression = BoundReference(at, keys(at).dataType, keys(at).nullable)
}

private[colocate] object BroadcastSide {

  /** The join with filters in some scans below it. Its broadcast stays as it is. */
  def pruned[S](join: BroadcastHashJoinExec, found: Seq[Prunable[S]])(scan: Prunable[S] => SparkPlan)(
      filtered: (Prunable[S], BroadcastSide) => SparkPlan): BroadcastHashJoinExec =
    if (found.isEmpty) join
    else of(join).fold(join) { side =>
      join.transformUp {
        case leaf if leaf.children.isEmpty => found.find(scan(_) eq leaf).fold(leaf)(filtered(_, side))
      }.asInstanceOf[BroadcastHashJoinExec]
    }

  private def of(join: BroadcastHashJoinExec): Option[BroadcastSide] = {
    val keys = if (join.buildSide == BuildLeft) join.leftKeys else join.rightKeys
    JoinSides.built(join) match {
      case stage: BroadcastQueryStageExec => Some(BroadcastSide(stage, keys))
      // Spark will do the same to the join's own broadcast; an Exchange is reused only if its plan is equal.
      case exchange: BroadcastExchangeLike =>
        Some(BroadcastSide(CollapseCodegenStages()(ColumnarRules.finish(exchange)), keys))
      case _ => None
    }
  }
}
