package org.apache.spark.sql.colocate.evidence.delta

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.colocate.compat.delta.{ColumnErrors, DeltaTarget, RowErrors, WrittenTables}
import org.apache.spark.sql.colocate.compat.hooks.{DeltaHooks, SelfCheck}
import org.apache.spark.sql.execution.{FileSourceScanLike, SparkPlan}

/** Which table a command of Delta's writes to, and Delta's errors of writes. */
private[colocate] object DeltaWrites {

  /** None: the plan is a user's own. */
  def table(plan: SparkPlan): Option[DeltaTarget] =
    if (!SelfCheck.has(DeltaHooks.Target)) None else WrittenTables.ofTransaction.orElse(ofCompaction(plan))

  private def ofCompaction(plan: SparkPlan): Option[DeltaTarget] =
    plan.collect { case scan: FileSourceScanLike => scan.relation.location }
      .flatMap(DeltaIndexes.compacted).headOption

  /**
   * An error that Delta's writers pass on as it is, instead of inside the error of a job. It is an ordinary one in an
   * executor in which our jar does not see Delta's.
   */
  def invariantViolation(message: String): RuntimeException =
    try RowErrors.invariantViolation(message)
    catch { case _: LinkageError => new RuntimeException(message) }

  /** Delta's error for a write that lacks a partition column. */
  def partitionColumnNotFound(table: String, column: String, present: Seq[Attribute]): Throwable = {
    SelfCheck.require(table, DeltaHooks.Columns)
    ColumnErrors.partitionColumnNotFound(column, present)
  }
}
