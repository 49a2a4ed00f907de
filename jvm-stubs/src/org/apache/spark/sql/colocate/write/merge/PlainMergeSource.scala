package org.apache.spark.sql.colocate.write.merge

import org.apache.spark.sql.catalyst.plans.logical.{AnalysisHelper, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.columns.FinishVisibleColumns

/**
 * MERGE keeps the analysed plan of its source inside a command, where no later rule reaches it, and Delta caches the
 * rows of a source that is more than projections and filters of Delta tables (`MergeIntoMaterializeSource`): it would
 * take our node for a source that may change between its two reads.
 */
object PlainMergeSource extends Rule[LogicalPlan] {

  private val Merge = "org.apache.spark.sql.catalyst.plans.logical.DeltaMergeInto"

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case merge if merge.getClass.getName == Merge =>
      AnalysisHelper.allowInvokingTransformsInAnalyzer {
        merge.withNewChildren(merge.children.map(FinishVisibleColumns(_)))
      }
    case _ => plan
  }
}
