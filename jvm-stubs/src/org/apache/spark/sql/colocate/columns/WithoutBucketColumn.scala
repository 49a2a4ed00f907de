package org.apache.spark.sql.colocate.columns

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.analysis.ResolvedTable
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference}
import org.apache.spark.sql.catalyst.plans.logical.{AnalysisHelper, LogicalPlan}
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.evidence.delta.DeltaTables
import org.apache.spark.sql.colocate.layout.{DeclaredTable, HiddenColumns}
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

/**
 * Builds the same statement for a table without the bucket column. It is only analysed for its error, and never run.
 */
private[colocate] case class WithoutBucketColumn(session: SparkSession) {

  /** Runs an analysis step on the statement and, if that fails, on `plain`. Throws the error of `plain`, if any. */
  def throwErrorOf(plan: LogicalPlan, plain: LogicalPlan)(step: LogicalPlan => Any): Unit =
    CurrentOrigin.withOrigin(plan.origin) {
      if (errorOf(step(plan)).isDefined) errorOf(step(plain)).foreach(error => throw error)
    }

  private def errorOf(step: => Any): Option[AnalysisException] =
    try {
      step
      None
    } catch {
      case error: AnalysisException => Some(error)
    }

  /** The statement without bucket columns; None if no table in it has one, or the statement itself names it. */
  def withoutBuckets(plan: LogicalPlan): Option[LogicalPlan] = {
    val used = plan.collect { case node if node.children.nonEmpty => node.expressions }.flatten
    val named = used.flatMap(_.collect { case a: AttributeReference => a.exprId }).toSet
    def hidden(column: Attribute): Boolean = HiddenColumns.contains(column.name) && !named(column.exprId)
    val plain = AnalysisHelper.allowInvokingTransformsInAnalyzer {
      plan.transformUp {
        case v2: DataSourceV2Relation if v2.output.exists(hidden) && isBucketed(v2.table) =>
          v2.copy(output = v2.output.filterNot(hidden))
        case v1: LogicalRelation if v1.output.exists(hidden) && HidingRelation.matches(v1) =>
          v1.copy(output = v1.output.filterNot(hidden))
        case table: ResolvedTable if table.outputAttributes.exists(hidden) && isBucketed(table.table) =>
          table.copy(
            table = new DeclaredTable(table.table), outputAttributes = table.outputAttributes.filterNot(hidden))
      }
    }
    Option.when(plain ne plan)(plain)
  }

  private def isBucketed(table: Table): Boolean = DeltaTables.hidesColumns(session, table)
}
