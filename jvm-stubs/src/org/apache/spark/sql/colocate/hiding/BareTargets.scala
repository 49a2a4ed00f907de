package org.apache.spark.sql.colocate.hiding

import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.layout.BucketColumn
import org.apache.spark.sql.types.StructType

/**
 * What UPDATE, DELETE and MERGE change is the bare table, also where the statement reached it through a read of it: a
 * temporary view, or the DataFrame in a `DeltaTable.forName`.
 */
object BareTargets extends Rule[LogicalPlan] {

  private val DeltaMerge = "org.apache.spark.sql.catalyst.plans.logical.DeltaMergeInto"

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case delete: DeleteFromTable if hides(delete.table) => delete.copy(table = bare(delete.table))
    case update: UpdateTable if hides(update.table) => update.copy(table = bare(update.table))
    case merge: MergeIntoTable if hides(merge.targetTable) => merge.copy(targetTable = bare(merge.targetTable))
    // Its stars are resolved by the time it gets here, against the visible columns.
    case merge if merge.getClass.getName == DeltaMerge && merge.resolved && hides(merge.children.head) => bareMerge(merge)
  }

  private def hides(target: LogicalPlan): Boolean = target.exists(_.isInstanceOf[VisibleColumns])

  private def bare(target: LogicalPlan): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      target.transformUp { case VisibleColumns(child) => child }
    }

  /** The schema after the merge was made from the visible columns too. */
  private def bareMerge(merge: LogicalPlan): LogicalPlan = {
    val target = bare(merge.children.head)
    val fields = merge.productElementNames.zip(merge.productIterator).map {
      case ("target", _) => target
      case ("finalSchema", Some(schema: StructType)) => Some(withBucket(schema, target.schema))
      case (_, value) => value
    }
    merge.makeCopy(fields.map(_.asInstanceOf[AnyRef]).toArray)
  }

  private def withBucket(schema: StructType, target: StructType): StructType = {
    val position = target.fieldNames.indexOf(BucketColumn.Name)
    if (position < 0 || schema.fieldNames.contains(BucketColumn.Name)) schema
    else StructType(schema.fields.patch(position, Seq(target(position)), 0))
  }
}
