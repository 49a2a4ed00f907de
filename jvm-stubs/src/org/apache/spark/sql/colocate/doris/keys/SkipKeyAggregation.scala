package org.apache.spark.sql.colocate.doris.keys

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate => LogicalAggregate, LogicalPlan, Project}
import org.apache.spark.sql.classic.{SparkSession, Strategy}
import org.apache.spark.sql.colocate.evidence.delta.DeltaIndexes
import org.apache.spark.sql.colocate.evidence.TableEvidence
import org.apache.spark.sql.colocate.rules.{Rewrite, RuleTable}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.datasources.{DataSourceStrategy, HadoopFsRelation, LogicalRelation}

/**
 * Matches: an aggregate by all key columns of a table with AGGREGATE KEY or UNIQUE KEY.
 * Produces: a projection, if the table's files are proven to have one row for each key (see [[UniqueFiles]]): SUM, MIN,
 * MAX and the like of one row are the row's own values. Otherwise the aggregate, without the numbers of rows where no
 * function needs them.
 * Not when: the aggregate has another function, or a filter of its own.
 */
case class SkipKeyAggregation(session: SparkSession) extends Strategy with AliasHelper {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case aggregate: LogicalAggregate if RuleTable.isActive("SkipKeyAggregation") =>
      Rewrite.strategy("SkipKeyAggregation", session, this, plan) {
        changed(aggregate).map(planLater(_)).toSeq
      }
    case _ => Nil
  }

  private def changed(aggregate: LogicalAggregate): Option[LogicalPlan] = for {
    rows <- RowsOf.of(aggregate.child)
    model <- KeyModel.of(rows.relation)
    plan <- projected(aggregate, rows, model).orElse(withoutRowIds(aggregate, rows))
  } yield plan

  private def withoutRowIds(aggregate: LogicalAggregate, rows: RowsOf): Option[LogicalPlan] =
    Option.when(rows.readsLess)(aggregate.copy(child = rows.plan))

  private def projected(aggregate: LogicalAggregate, rows: RowsOf, model: KeyModel): Option[LogicalPlan] = for {
    keys <- keysOf(aggregate, rows.relation)
    if model.keys.forall(key => keys.exists(session.sessionState.conf.resolver(_, key)))
    values = aggregate.aggregateExpressions.map(ofOneRow(_, rows.columns))
    if values.forall(_.isDefined) && isProven(rows.relation, rows.filters, model)
  } yield {
    val used = AttributeSet(values.flatten.flatMap(_.references))
    Project(values.flatten, rows.copy(columns = rows.columns.filter(c => used.contains(c.toAttribute))).plan)
  }

  /** Spark's scan chooses files by its own filters; where Delta has chosen by others, it may read more files. */
  private def isProven(
      relation: LogicalRelation, filters: Seq[Expression], model: KeyModel): Boolean = relation.relation match {
    case files: HadoopFsRelation if DeltaIndexes.isPrepared(files.location) =>
      val asked = ExpressionSet(DataSourceStrategy.normalizeExprs(filters, relation.output))
      DeltaIndexes.preparedFilters(files.location).forall(asked.contains) && UniqueFiles.has(files, model) &&
        !TableEvidence.of(relation).exists(_.exists(_.damaged))
    case _ => false
  }

  /** The names of the relation's columns that the aggregate groups by; None if it groups by anything else. */
  private def keysOf(aggregate: LogicalAggregate, relation: LogicalRelation): Option[Seq[String]] = {
    val columns = aggregate.groupingExpressions.collect {
      case column: Attribute if relation.outputSet.contains(column) => relation.output.find(_.exprId == column.exprId)
    }.flatten
    Option.when(columns.size == aggregate.groupingExpressions.size)(columns.map(_.name))
  }

  private def ofOneRow(result: NamedExpression, columns: Seq[NamedExpression]): Option[NamedExpression] = result match {
    case column: Attribute => Some(column)
    case alias: Alias =>
      val value = alias.child.transformUp {
        case AggregateExpression(function, Complete, false, None, _) => valueOf(function, columns).getOrElse(Unknown)
      }
      Option.unless(value.exists(e => e == Unknown || e.isInstanceOf[AggregateExpression]))(
        alias.withNewChildren(Seq(value)).asInstanceOf[NamedExpression])
    case _ => None
  }

  private def valueOf(function: AggregateFunction, columns: Seq[NamedExpression]): Option[Expression] =
    function match {
      case sum: Sum => Some(if (sum.dataType == sum.child.dataType) sum.child else Cast(sum.child, sum.dataType))
      case Min(value) => Some(value)
      case Max(value) => Some(value)
      case MaxBy(value, order) if isByLoad(value, order, columns) => Some(value)
      case _ => None
    }

  /** REPLACE and REPLACE_IF_NOT_NULL order by the row's number, which is null only where the value is. */
  private def isByLoad(value: Expression, order: Expression, columns: Seq[NamedExpression]): Boolean =
    replaceAlias(order, getAliasMap(columns)).references.forall(column =>
      FileSourceMetadataAttribute.isValid(column.metadata) || value.references.contains(column))

  /** Stands for a function that does not have a value of one row here. */
  private val Unknown: Expression = Literal("unknown")
}
