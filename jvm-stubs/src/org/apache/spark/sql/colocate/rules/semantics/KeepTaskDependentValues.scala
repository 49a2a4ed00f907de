package org.apache.spark.sql.colocate.rules.semantics

import org.apache.spark.sql.catalyst.expressions.{Alias, Expression, ExpressionWithRandomSeed, MonotonicallyIncreasingID, SparkPartitionID}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.evidence.delta.DeltaReflection
import org.apache.spark.sql.colocate.rules.RerunEnsureRequirements
import org.apache.spark.sql.colocate.rules.scan.DisableUnnecessaryColocatedScan
import org.apache.spark.sql.colocate.scan.ColocatedScanExec
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.execution.{CollectMetricsExec, SampleExec, SparkPlan}

/**
 * What follows from the task that a row is read in, and from its place there: a number by
 * `monotonically_increasing_id()`, a random value or a sample of a given seed. A query that uses a table twice relies on
 * both uses giving a row the same value, as two equal scans do, so such a table is read as an ordinary one in each.
 * `observe()` must see all rows: a shuffle reads them all, a join within buckets stops where its other side ends.
 *
 * Values that are made above a join or an aggregate follow its tasks, as they do above one of Spark's own.
 */
object KeepTaskDependentValues extends Rule[SparkPlan] {

  // MERGE numbers the rows of its source, within one query, to tell them apart.
  private val OfMergeSource = "_source_row_index"

  override def apply(plan: SparkPlan): SparkPlan =
    if (!plan.exists(asks)) plan
    else RerunEnsureRequirements.after(plan)(_.transformDown { case node if asks(node) => node.mapChildren(ordinary) })

  private def asks(node: SparkPlan): Boolean = asked(node).isDefined

  /** What in the node follows from the places of its rows, in words. */
  def asked(node: SparkPlan): Option[String] = node match {
    case _: SampleExec => Some("a sample")
    case _: CollectMetricsExec => Some("observe()")
    case _ => node.expressions.flatMap(followsPlace).headOption.map(_.sql)
  }

  private def followsPlace(e: Expression): Option[Expression] = e match {
    case Alias(_, OfMergeSource) => None
    case _: MonotonicallyIncreasingID | _: SparkPartitionID | _: ExpressionWithRandomSeed => Some(e)
    case _ => e.children.flatMap(followsPlace).headOption
  }

  /** Down to where rows are dealt out anew, or meet other rows of their task. */
  private def ordinary(plan: SparkPlan): SparkPlan = plan match {
    case scan: ColocatedScanExec => if (isOfCommand(scan)) scan else scan.asWithoutLayout
    case _: Exchange => plan
    case _ if DisableUnnecessaryColocatedScan.meetsByTask(plan) => plan
    case _ => plan.mapChildren(ordinary)
  }

  /** The scan of a MERGE, UPDATE or DELETE reads one snapshot in one query, and numbers its rows for that query alone. */
  private def isOfCommand(scan: ColocatedScanExec): Boolean = {
    val index = scan.relation.location
    DeltaReflection.isDeltaIndex(index) && !DeltaReflection.isPrepared(index)
  }
}
