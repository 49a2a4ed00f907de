package org.apache.spark.sql.colocate.write

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
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

  override def apply(plan: LogicalPlan): LogicalPlan = plan.nodeName match {
    case "DeltaUpdateTable" if plan.resolved => RangedRows.of(session, plan.children.head).fold(plan)(update(plan, _))
    case _ => plan
  }

  private def update(plan: LogicalPlan, ranges: RangedRows): LogicalPlan = DeltaClauses.fields(plan) match {
    case Seq(table: LogicalPlan, columns: Seq[_], values: Seq[_], others @ _*) =>
      val set = columns.zip(values).collect { case (column: Attribute, value: Expression) => column.name -> value }
      val changed = for {
        hidden <- table.output.find(_.name == RangeColumn.Name)
        value <- partition(ranges, set, table.output)
      } yield DeltaClauses.copied(plan, Seq(table, added(columns, hidden), added(values, value)) ++ others)
      changed.getOrElse(plan)
    case _ => plan
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

  private def added(list: Seq[Any], one: Any): Seq[Any] = list :+ one
}
