package org.apache.spark.sql.colocate.rules.scan

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.FILTER
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.columns.RangeColumn
import org.apache.spark.sql.colocate.evidence.delta.DeltaReflection
import org.apache.spark.sql.colocate.rules.{Rewrite, RuleTable}
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String

/**
 * Matches: a filter on a Delta table with range partitions that gives each range column one of some values, by `=` or
 * IN.
 * Produces: the filter with the names of these values' partitions, computed by the table's own expression. Delta's
 * statistics alone would read all partitions between the least and the greatest value of an IN.
 * Not when: a range column has no such condition, or the values have too many combinations. Other comparisons are left
 * to Delta's statistics.
 */
case class PruneRanges(session: SparkSession) extends Rule[LogicalPlan] with PredicateHelper {

  private val MostCombinations = 1000

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!RuleTable.isActive("PruneRanges")) plan
    else plan.transformWithPruning(_.containsPattern(FILTER)) {
      case filter @ Filter(condition, relation: LogicalRelation) =>
        Rewrite.orElse("PruneRanges", filter)(named(condition, relation).fold(filter)(Filter(_, relation)))
    }

  private def named(condition: Expression, relation: LogicalRelation): Option[Expression] = for {
    column <- relation.output.find(c => c.name == RangeColumn.Name && c.dataType == StringType)
    if !condition.references.contains(column)
    partition <- expressionOf(relation)
    used = partition.references.toSeq
    values <- combinations(condition, used, relation)
  } yield {
    val named = BindReferences.bindReference(partition, used)
    val names = values.map(row => named.eval(InternalRow.fromSeq(row.map(_.value))))
      .collect { case name: UTF8String => name }.distinct
    And(condition, if (names.isEmpty) Literal.FalseLiteral else In(column, names.map(Literal(_, StringType))))
  }

  /** The expression by which Delta computes a row's partition, which is what proves it; not the table's property. */
  private def expressionOf(relation: LogicalRelation): Option[Expression] = relation.relation match {
    case files: HadoopFsRelation if !relation.isStreaming && DeltaReflection.isOfTable(files.location) =>
      val schema = DeltaReflection.schemaOf(files)
      RangeColumn.expressionOf(schema).flatMap(RangeColumn.resolve(session, _, schema)).filter(_.deterministic)
    case _ => None
  }

  /** Each combination of the values that the condition allows, in the order of the range columns. */
  private def combinations(
      condition: Expression, used: Seq[Attribute], relation: LogicalRelation): Option[Seq[Seq[Literal]]] = {
    val conditions = splitConjunctivePredicates(condition)
    val allowed = used.map { column =>
      relation.output.find(_.name == column.name).filter(_.dataType == column.dataType)
        .flatMap(own => conditions.flatMap(valuesOf(_, own)).headOption)
    }
    Option.when(allowed.nonEmpty && allowed.forall(_.isDefined) && few(allowed.flatten))(
      allowed.flatten.foldLeft(Seq(Seq.empty[Literal]))((rows, values) => rows.flatMap(row => values.map(row :+ _))))
  }

  private def few(values: Seq[Seq[_]]): Boolean = values.map(_.size.toLong).product <= MostCombinations

  /** The values that the condition leaves to the column; null is never one of them. */
  private def valuesOf(condition: Expression, column: Attribute): Option[Seq[Literal]] = condition match {
    case EqualTo(c: Attribute, value: Literal) if c.exprId == column.exprId => typed(Seq(value), column)
    case EqualTo(value: Literal, c: Attribute) if c.exprId == column.exprId => typed(Seq(value), column)
    case In(c: Attribute, list) if c.exprId == column.exprId && list.forall(_.isInstanceOf[Literal]) =>
      typed(list.map(_.asInstanceOf[Literal]), column)
    case InSet(c: Attribute, set) if c.exprId == column.exprId =>
      typed(set.toSeq.map(Literal(_, column.dataType)), column)
    case _ => None
  }

  private def typed(values: Seq[Literal], column: Attribute): Option[Seq[Literal]] =
    Option.when(values.forall(_.dataType == column.dataType))(values.filter(_.value != null))
}
