package org.apache.spark.sql.colocate.rules.scan

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.FILTER
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.columns.RangeColumn
import org.apache.spark.sql.colocate.evidence.delta.DeltaReflection
import org.apache.spark.sql.colocate.ranges.{RangeColumns, RangeSearch}
import org.apache.spark.sql.colocate.rules.{Rewrite, RuleTable}
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String

/**
 * Matches: a filter on a Delta table with range partitions that limits the range columns: by comparisons, IN, BETWEEN,
 * or by functions of dates and times that never fall where the column rises.
 * Produces: the filter with the names of the partitions that can have such rows, by the table's own expression.
 * Not when: all partitions can, or the condition names the partition column itself.
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
    own = used.flatMap(c => relation.output.find(o => o.name == c.name && o.dataType == c.dataType))
    if own.size == used.size
    conditions = splitConjunctivePredicates(condition).filter(limits(_, own))
    if conditions.nonEmpty
    names <- ofValues(partition, used, conditions, own).orElse(search(partition, used, conditions, own))
  } yield And(condition, if (names.isEmpty) Literal.FalseLiteral else In(column, names.map(Literal(_))))

  /** Spark adds IS NOT NULL wherever it can. */
  private def limits(condition: Expression, columns: Seq[Attribute]): Boolean = condition match {
    case IsNotNull(_) => false
    case other => columns.exists(other.references.contains)
  }

  /** The expression by which Delta computes a row's partition, which is what proves it; not the table's property. */
  private def expressionOf(relation: LogicalRelation): Option[Expression] = relation.relation match {
    case files: HadoopFsRelation if !relation.isStreaming && DeltaReflection.isOfTable(files.location) =>
      for {
        schema <- DeltaReflection.schemaToRead(files.location)
        text <- RangeColumn.expressionOf(schema)
        partition <- RangeColumn.resolve(session, text, schema)
        if partition.deterministic
      } yield partition
    case _ => None
  }

  private def search(
      partition: Expression,
      used: Seq[Attribute],
      conditions: Seq[Expression],
      own: Seq[Attribute]): Option[Seq[String]] = {
    val positions = (used.map(_.exprId).zipWithIndex ++ own.map(_.exprId).zipWithIndex).toMap
    val columns = RangeColumns(used.map(_.dataType).toIndexedSeq, positions)
    new RangeSearch(partition, columns).partitions(conditions.reduce(And))
  }

  /** The partitions of the values that `=` and IN leave to the columns; None if there are no such conditions. */
  private def ofValues(
      partition: Expression,
      used: Seq[Attribute],
      conditions: Seq[Expression],
      own: Seq[Attribute]): Option[Seq[String]] = {
    val allowed = own.map(column => conditions.flatMap(valuesOf(_, column)).minByOption(_.size))
    Option.when(allowed.forall(_.isDefined) && few(allowed.flatten)) {
      val rows = allowed.flatten.foldLeft(Seq(Seq.empty[Any]))((rows, values) => rows.flatMap(r => values.map(r :+ _)))
      val named = BindReferences.bindReference(partition, AttributeSeq(used))
      rows.map(row => named.eval(InternalRow.fromSeq(row))).collect { case name: UTF8String => name.toString }.distinct
    }
  }

  private def few(values: Seq[Seq[_]]): Boolean = values.map(_.size.toLong).product <= MostCombinations

  /** The values that the condition leaves to the column; null is never one of them. */
  private def valuesOf(condition: Expression, column: Attribute): Option[Seq[Any]] = condition match {
    case EqualTo(c: Attribute, value: Literal) if c.exprId == column.exprId => typed(Seq(value), column)
    case EqualTo(value: Literal, c: Attribute) if c.exprId == column.exprId => typed(Seq(value), column)
    case In(c: Attribute, list) if c.exprId == column.exprId && list.forall(_.isInstanceOf[Literal]) =>
      typed(list.map(_.asInstanceOf[Literal]), column)
    case InSet(c: Attribute, set) if c.exprId == column.exprId => Some(set.toSeq.filter(_ != null))
    case _ => None
  }

  private def typed(values: Seq[Literal], column: Attribute): Option[Seq[Any]] =
    Option.when(values.forall(_.dataType == column.dataType))(values.map(_.value).filter(_ != null))
}
