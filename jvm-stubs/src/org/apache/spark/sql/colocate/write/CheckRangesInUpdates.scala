package org.apache.spark.sql.colocate.write

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.compat.delta.SetColumns
import org.apache.spark.sql.colocate.evidence.delta.DeltaClauses
import org.apache.spark.sql.colocate.layout.RangeColumn
import org.apache.spark.sql.colocate.write.target.RangedRows

/**
 * Matches: Delta's UPDATE that sets a range column. For MERGE, HiddenColumnsOfMerge does the same.
 * Produces: the same with a value for the hidden column `_colocate_range`, which fails with our error for a row of no
 * range partition. Delta checks the column as before.
 * Not when: the statement sets the hidden column itself, or a value is a subquery or changes from call to call. Then
 * the error is Delta's own, in words about the hidden column.
 */
case class CheckRangesInUpdates(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = DeltaClauses.update(plan) match {
    case Some(update) if plan.resolved => RangedRows.of(session, update.table).fold(plan)(checked(plan, update, _))
    case _ => plan
  }

  private def checked(plan: LogicalPlan, update: SetColumns, ranges: RangedRows): LogicalPlan = {
    val set = update.columns.zip(update.values).collect { case (column: Attribute, value) => column.name -> value }
    val changed = for {
      hidden <- update.table.output.find(_.name == RangeColumn.Name)
      value <- partition(ranges, set, update.table.output)
    } yield DeltaClauses.withColumn(plan, hidden, value)
    changed.getOrElse(plan)
  }

  /** The partition of the new row; None where Delta alone has to check it. */
  private def partition(
      ranges: RangedRows, set: Seq[(String, Expression)], kept: Seq[Attribute]): Option[Expression] = {
    def newValue(name: String): Option[Expression] = set.collectFirst { case (n, v) if conf.resolver(n, name) => v }
    def value(name: String): Option[Expression] = newValue(name).orElse(kept.find(_.name == name))
    if (newValue(RangeColumn.Name).isDefined || ranges.columnNames.forall(newValue(_).isEmpty)) None
    else if (!ranges.columnNames.flatMap(value(_)).forall(DeltaClauses.isRepeatable)) None
    else ranges.checkedPartition(value)
  }
}
