package org.apache.spark.sql.colocate.rules.semantics

import org.apache.spark.sql.catalyst.expressions.{
  Alias, Expression, ExpressionWithRandomSeed, InputFileBlockLength, InputFileBlockStart, InputFileName,
  MonotonicallyIncreasingID, SparkPartitionID
}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.evidence.delta.DeltaIndexes
import org.apache.spark.sql.colocate.rules.RerunEnsureRequirements
import org.apache.spark.sql.colocate.scan.{ByTask, ColocatedScanExec}
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.execution.{CollectMetricsExec, SampleExec, SparkPlan}

/**
 * Matches: expressions and operators whose value depends on the task that reads a row, or on the row's number in it:
 * `monotonically_increasing_id()`, seeded random values and samples, `input_file_name()`; and `observe()`, which must
 * see all rows, while a join within buckets stops where its other side ends.
 * Produces: ordinary scans below them. A query that uses a table twice relies on both uses giving a row the same value,
 * as two equal scans do; and a row that was shuffled does not know its file any more.
 * Not when: a join, an aggregate or a shuffle lies between: then the values depend on the tasks of that operator, as
 * with stock Spark. `input_file_name()` needs an ordinary scan only if rows of a file are shuffled because they lie in
 * a wrong bucket.
 */
object KeepTaskDependentValues extends Rule[SparkPlan] {

  // MERGE numbers the rows of its source within one query, so that each has an id.
  private val OfMergeSource = "_source_row_index"

  override def apply(plan: SparkPlan): SparkPlan = withFileNames(withValues(plan))

  private def withValues(plan: SparkPlan): SparkPlan =
    if (!plan.exists(dependsOnTask)) plan
    else RerunEnsureRequirements.after(plan)(_.transformDown {
      case node if dependsOnTask(node) => node.mapChildren(ordinary)
    })

  /** `_metadata.file_name` needs none of this: it is a column, which is shuffled with its row. */
  private def withFileNames(plan: SparkPlan): SparkPlan =
    if (!plan.exists(_.expressions.exists(_.exists(isFileName)))) plan
    else RerunEnsureRequirements.after(plan)(_.transformUp {
      case scan: ColocatedScanExec if scan.strays.nonEmpty => scan.ordinary(prunable = false)
    })

  private def isFileName(e: Expression): Boolean = e match {
    case _: InputFileName | _: InputFileBlockStart | _: InputFileBlockLength => true
    case _ => false
  }

  private def dependsOnTask(node: SparkPlan): Boolean = taskDependent(node).isDefined

  /** The part of the node whose value depends on the task, in words for EXPLAIN. */
  def taskDependent(node: SparkPlan): Option[String] = node match {
    case _: SampleExec => Some("a sample")
    case _: CollectMetricsExec => Some("observe()")
    case _ => node.expressions.flatMap(taskDependentIn).headOption.map(_.sql)
  }

  private def taskDependentIn(e: Expression): Option[Expression] = e match {
    case Alias(_, OfMergeSource) => None
    case _: MonotonicallyIncreasingID | _: SparkPartitionID | _: ExpressionWithRandomSeed => Some(e)
    case _ => e.children.flatMap(taskDependentIn).headOption
  }

  /** Down to a shuffle, or to an operator that combines the rows of a task. */
  private def ordinary(plan: SparkPlan): SparkPlan = plan match {
    case scan: ColocatedScanExec => if (isOfCommand(scan)) scan else scan.asWithoutLayout
    case _: Exchange => plan
    case _ if ByTask.meetsByTask(plan) => plan
    case _ => plan.mapChildren(ordinary)
  }

  /**
   * The scan of a MERGE, UPDATE or DELETE reads one snapshot in one query, and numbers its rows for that query alone.
   */
  private def isOfCommand(scan: ColocatedScanExec): Boolean = {
    val index = scan.relation.location
    DeltaIndexes.isDeltaIndex(index) && !DeltaIndexes.isPrepared(index)
  }
}
