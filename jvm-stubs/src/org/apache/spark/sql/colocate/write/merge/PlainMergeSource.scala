package org.apache.spark.sql.colocate.write.merge

import org.apache.spark.sql.catalyst.plans.logical.{AnalysisHelper, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.columns.FinishVisibleColumns
import org.apache.spark.sql.colocate.compat.delta.DeltaClasses

/**
 * Matches: Delta's MERGE command. It keeps the analyzed plan of its source inside, where no later rule reaches it.
 * Produces: the source as ordinary projections. Delta caches the rows of a source that is more than projections and
 * filters of Delta tables (`MergeIntoMaterializeSource`): it would take our node for a source that may change between
 * its two reads.
 * Not when: the source hides no bucket column.
 */
object PlainMergeSource extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case merge if DeltaClasses.is(merge, DeltaClasses.Merge) =>
      AnalysisHelper.allowInvokingTransformsInAnalyzer {
        merge.withNewChildren(merge.children.map(FinishVisibleColumns(_)))
      }
    case _ => plan
  }
}
