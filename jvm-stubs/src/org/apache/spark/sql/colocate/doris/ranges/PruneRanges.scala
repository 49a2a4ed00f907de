package org.apache.spark.sql.colocate.doris.ranges

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.FILTER
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.evidence.delta.DeltaIndexes
import org.apache.spark.sql.colocate.layout.{PartitionExpression, RangeColumn}
import org.apache.spark.sql.colocate.rules.{Rewrite, RuleTable}
import org.apache.spark.sql.colocate.scan.ValuesOfKey
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.types.StringType

/**
 * Matches: a filter on a Delta table with range partitions that limits the range columns: by comparisons, IN, BETWEEN,
 * or by monotonic functions of dates and times.
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
    (text, partition) <- partitionOf(relation)
    own = partition.columns.flatMap(c => relation.output.find(o => o.name == c.name && o.dataType == c.dataType))
    if own.size == partition.columns.size
    conditions = splitConjunctivePredicates(condition).filter(limits(_, own))
    if conditions.nonEmpty
    names <- ofValues(partition, conditions, own).orElse(search(partition, conditions, own))
  } yield And(condition, InRangePartitions(column, names, text))

  /** Spark adds IS NOT NULL wherever it can. */
  private def limits(condition: Expression, columns: Seq[Attribute]): Boolean = condition match {
    case IsNotNull(_) => false
    case other => columns.exists(other.references.contains)
  }

  /** The expression by which Delta computes a row's partition, which is what proves it; not the table's property. */
  private def partitionOf(relation: LogicalRelation): Option[(String, PartitionExpression)] =
    relation.relation match {
      case files: HadoopFsRelation if !relation.isStreaming && DeltaIndexes.isOfTable(files.location) =>
        for {
          schema <- DeltaIndexes.newestSchema(files.location)
          text <- RangeColumn.expressionOf(schema)
          partition <- RangeColumn.partition(session, text, schema)
          if partition.isDeterministic
        } yield (text, partition)
      case _ => None
    }

  private def search(
      partition: PartitionExpression, conditions: Seq[Expression], own: Seq[Attribute]): Option[Seq[String]] = {
    val used = partition.columns
    val positions = (used.map(_.exprId).zipWithIndex ++ own.map(_.exprId).zipWithIndex).toMap
    val columns = RangeColumns(used.map(_.dataType).toIndexedSeq, positions)
    new RangeSearch(partition, columns).partitions(conditions.reduce(And))
  }

  /** The partitions of the values that `=` and IN leave to the columns; None if there are no such conditions. */
  private def ofValues(
      partition: PartitionExpression, conditions: Seq[Expression], own: Seq[Attribute]): Option[Seq[String]] = {
    val values = own.flatMap(ValuesOfKey.fewest(_, conditions))
    if (values.size < own.size) None
    else ValuesOfKey.combinations(values, MostCombinations).map { rows =>
      rows.flatMap(row => partition.of(row.map(_.value))).distinct
    }
  }
}
