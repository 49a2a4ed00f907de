package org.apache.spark.sql.colocate.write

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{AnalysisHelper, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNode
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.columns.RangeColumn
import org.apache.spark.sql.colocate.evidence.delta.DeltaReflection
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelationWithTable}

/**
 * Matches: Delta's UPDATE that sets a range column, and Delta's MERGE that sets or inserts one.
 * Produces: the same with a value for the hidden column `_colocate_range`, which fails with our error for a row of no
 * range partition. Delta checks the column as before.
 * Not when: the statement sets the hidden column itself or inserts a row without a range column, or a value is a
 * subquery or changes from call to call. Then the error is Delta's own, in words about the hidden column.
 */
case class CheckRangesInUpdates(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.nodeName match {
    case "DeltaUpdateTable" if plan.resolved => rangesOf(plan.children.head).fold(plan)(update(plan, _))
    case "DeltaMergeInto" if plan.resolved => rangesOf(plan.children.head).fold(plan)(merge(plan, _))
    case _ => plan
  }

  private def update(plan: LogicalPlan, ranges: RangedRows): LogicalPlan = fields(plan) match {
    case Seq(table: LogicalPlan, columns: Seq[_], values: Seq[_], others @ _*) =>
      val set = columns.zip(values).collect { case (column: Attribute, value: Expression) => column.name -> value }
      val changed = for {
        hidden <- table.output.find(_.name == RangeColumn.Name)
        value <- partition(ranges, set, table.output)
      } yield copied(plan, Seq(table, added(columns, hidden), added(values, value)) ++ others)
      changed.getOrElse(plan)
    case _ => plan
  }

  private def merge(plan: LogicalPlan, ranges: RangedRows): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      plan.mapExpressions {
        case update if update.nodeName.endsWith("UpdateClause") => checked(update, ranges, plan.children.head.output)
        case insert if insert.nodeName.endsWith("InsertClause") => checked(insert, ranges, Nil)
        case other => other
      }
    }

  /** @param kept columns that have their values still if the clause does not set them */
  private def checked(clause: Expression, ranges: RangedRows, kept: Seq[Attribute]): Expression =
    fields(clause) match {
      case Seq(condition, actions: Seq[_]) =>
        val parts = actions.collect { case action: Expression => action -> fields(action) }
        val set = parts.collect { case (_, Seq(Seq(name: String), value: Expression, _*)) => name -> value }
        val changed = for {
          (action, Seq(_, _, others @ _*)) <- parts.headOption
          value <- partition(ranges, set, kept)
        } yield {
          val ofPartition = copied(action, Seq(Seq(RangeColumn.Name), value) ++ others)
          copied(clause, Seq(condition, added(actions, ofPartition)))
        }
        changed.getOrElse(clause)
      case _ => clause
    }

  /** The partition of the new row; None where Delta alone has to check it. */
  private def partition(
      ranges: RangedRows, set: Seq[(String, Expression)], kept: Seq[Attribute]): Option[Expression] = {
    def newValue(name: String): Option[Expression] = set.collectFirst { case (n, v) if conf.resolver(n, name) => v }
    def value(name: String): Option[Expression] = newValue(name).orElse(kept.find(_.name == name))
    if (newValue(RangeColumn.Name).isDefined || ranges.columnNames.forall(newValue(_).isEmpty)) None
    else if (ranges.columnNames.flatMap(value(_)).exists(!isCheap(_))) None
    else ranges.checkedPartition(value)
  }

  private def isCheap(value: Expression): Boolean =
    value.deterministic && !value.exists(_.isInstanceOf[PlanExpression[_]])

  private def rangesOf(target: LogicalPlan): Option[RangedRows] = target.collectFirst {
    case LogicalRelationWithTable(files: HadoopFsRelation, table)
        if files.partitionSchema.fieldNames.contains(RangeColumn.Name) =>
      val schema = DeltaReflection.schemaOf(files)
      for {
        text <- RangeColumn.expressionOf(schema)
        name = table.fold(DeltaReflection.dataPath(files.location).toString)(_.identifier.unquotedString)
        entries = RangedRows.entries(DeltaReflection.propertiesOf(files))
        ranges <- RangedRows.of(session, name.stripPrefix("spark_catalog."), text, schema, entries)
      } yield ranges
  }.flatten

  private def added(list: Seq[Any], one: Any): Seq[Any] = list :+ one

  private def fields(node: TreeNode[_]): Seq[Any] = node.productIterator.toSeq

  private def copied[T <: TreeNode[T]](node: T, fields: Seq[Any]): T =
    node.makeCopy(fields.map(_.asInstanceOf[AnyRef]).toArray)
}
