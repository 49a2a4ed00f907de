package org.apache.spark.sql.colocate.write

import org.apache.spark.sql.catalyst.expressions.{Alias, LeafExpression, Unevaluable}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.layout.BucketColumn
import org.apache.spark.sql.errors.QueryCompilationErrors
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.types.{DataType, IntegerType}

/** Where the bucket column stands in a write by position, until LayOutWrites leaves the column to Delta. */
case class BucketPlaceholder() extends LeafExpression with Unevaluable {
  override def nullable: Boolean = true
  override def dataType: DataType = IntegerType
}

/**
 * A write by position into a bucketed Delta table names the user's columns only: it gets a place for the bucket column
 * before Delta counts the columns (traps S3.5). A query that carries a column of that name keeps it; Delta checks it.
 */
case class FillBucketColumn(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case write: V2WriteCommand if !write.isByName && write.query.resolved =>
      BucketedTarget.of(session, write).fold[LogicalPlan](write) { target =>
        write.withNewQuery(filled(write.query, target))
      }
  }

  private def filled(query: LogicalPlan, target: BucketedTarget): LogicalPlan = {
    val position = target.relation.output.indexWhere(_.name == BucketColumn.Name)
    if (query.output.exists(_.name == BucketColumn.Name)) query
    else if (query.output.size < target.relation.output.size - 1) throw tooFew(query, target.relation)
    else Project(query.output.patch(position, Seq(Alias(BucketPlaceholder(), BucketColumn.Name)()), 0), query)
  }

  private def tooFew(query: LogicalPlan, relation: DataSourceV2Relation): Throwable =
    QueryCompilationErrors.cannotWriteNotEnoughColumnsToTableError(
      relation.name, relation.output.map(_.name).filterNot(_ == BucketColumn.Name), query.output)
}
