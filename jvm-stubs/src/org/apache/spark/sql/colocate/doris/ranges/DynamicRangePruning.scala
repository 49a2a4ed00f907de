package org.apache.spark.sql.colocate.doris.ranges

import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.evidence.delta.DeltaIndexes
import org.apache.spark.sql.colocate.layout.RangeColumn
import org.apache.spark.sql.colocate.rules.scan.{BroadcastSide, DynamicBucketPruning}
import org.apache.spark.sql.colocate.rules.{Rewrite, RuleTable}
import org.apache.spark.sql.colocate.scan.{ColocatedScanExec, Prunable, PrunableScans, ReadMode}
import org.apache.spark.sql.execution.colocate.ValuesOfBuildSide
import org.apache.spark.sql.execution.joins.BroadcastHashJoinExec
import org.apache.spark.sql.execution.{FileSourceScanExec, FileSourceScanLike, InSubqueryExec, SparkPlan}
import org.apache.spark.sql.types.StringType

/**
 * A scan of a Delta table with range partitions.
 *
 * @param partition  the expression of a row's partition, over the scan's columns
 * @param partitions how many there are
 */
private[colocate] case class RangedScan(scan: FileSourceScanLike, partition: Expression, partitions: Int)

/**
 * Matches: a broadcast join whose other side is a Delta table with range partitions, joined by all range columns.
 * Produces: a scan that reads only the range partitions of the keys of the broadcast side. No query runs for it: the
 * broadcast is the join's own. See DynamicBucketPruning for when that is.
 * Not when: `spark.sql.optimizer.dynamicPartitionPruning.enabled` or `spark.sql.exchange.reuse` is off.
 */
case class DynamicRangePruning(session: SparkSession) extends Rule[SparkPlan] {

  private val scans = new PrunableScans[RangedScan](rangedScan)

  override def apply(plan: SparkPlan): SparkPlan = if (concerns(plan)) walk(plan)(pruned) else plan

  /**
   * Both rules. Without AQE, a filter has a copy of the join's broadcast, and the two must stay equal: no scan below
   * the copy may change later. So both rules run in one walk.
   */
  def withBuckets: Rule[SparkPlan] = new Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan =
      if (!concerns(plan)) DynamicBucketPruning(plan)
      else walk(plan)(join => pruned(if (DynamicBucketPruning.isActive) DynamicBucketPruning.pruned(join) else join))
  }

  private def walk(plan: SparkPlan)(prune: BroadcastHashJoinExec => SparkPlan): SparkPlan =
    Rewrite("DynamicRangePruning", plan)(_.transformUp { case join: BroadcastHashJoinExec => prune(join) })

  private def concerns(plan: SparkPlan): Boolean =
    RuleTable.isActive("DynamicRangePruning") && conf.exchangeReuseEnabled && conf.dynamicPartitionPruningEnabled &&
      plan.exists(_.isInstanceOf[BroadcastHashJoinExec]) && plan.exists(isRanged)

  private def pruned(join: BroadcastHashJoinExec): BroadcastHashJoinExec =
    BroadcastSide.pruned(join, scans.of(join))(_.scan.scan)(filtered(_, _))

  private def isRanged(plan: SparkPlan): Boolean = plan match {
    case scan: FileSourceScanLike => scan.relation.partitionSchema.fieldNames.contains(RangeColumn.Name)
    case _ => false
  }

  private def rangedScan(plan: SparkPlan): Option[(RangedScan, Seq[Attribute])] = plan match {
    case scan: FileSourceScanLike if isRanged(scan) && mayPrune(scan) =>
      // The snapshot that is read: partitions may have come or gone since the query was analyzed.
      val schema = DeltaIndexes.snapshotOf(scan.relation.location).schema
      for {
        text <- RangeColumn.expressionOf(schema)
        partition <- RangeColumn.partition(session, text, schema).filter(_.isDeterministic)
        own <- RangeColumn.over(partition.expression, name => scan.output.find(_.name == name))
        columns = own.references.toSeq
        if columns.nonEmpty
      } yield RangedScan(scan, own, partition.names.size) -> columns
    case _ => None
  }

  private def mayPrune(scan: FileSourceScanLike): Boolean = DeltaIndexes.isPrepared(scan.relation.location) &&
    (scan match {
      case _: FileSourceScanExec => true
      case bucketed: ColocatedScanExec => !bucketed.mode.isInstanceOf[ReadMode.ByShare]
      case _ => false
    })

  private def filtered(found: Prunable[RangedScan], side: BroadcastSide): SparkPlan = {
    val RangedScan(scan, partition, partitions) = found.scan
    val id = NamedExpression.newExprId
    val keys = AttributeMap(partition.references.toSeq.zip(found.positions.map(side.key)))
    val ofKeys = partition.transformUp { case column: Attribute => keys(column) }
    val values = ValuesOfBuildSide(s"ranges#${id.id}", side.keys, ofKeys, partitions, side.plan)
    val filter = DynamicPruningExpression(InSubqueryExec(DynamicRangePruning.column, values, id))
    scan match {
      case files: FileSourceScanExec => files.copy(partitionFilters = files.partitionFilters :+ filter)
      case bucketed: ColocatedScanExec => bucketed.copy(partitionFilters = bucketed.partitionFilters :+ filter)
      case other => other
    }
  }
}

object DynamicRangePruning {

  /** Scans find a partition column by its name. The id is always the same, so that equal scans stay equal. */
  private val column = AttributeReference(RangeColumn.Name, StringType, nullable = false)(
    ExprId(0, UUID.nameUUIDFromBytes(RangeColumn.Name.getBytes(UTF_8))))
}
