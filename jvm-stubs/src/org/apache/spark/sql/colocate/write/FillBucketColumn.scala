package org.apache.spark.sql.colocate.write

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.columns.BucketColumn
import org.apache.spark.sql.errors.QueryCompilationErrors
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

/**
 * The bucket column in a write by position, until LayOutWrites removes it and Delta computes it. A command that Delta
 * makes from the write is not seen by that rule; there this expression computes the bucket.
 */
case class GivenBucket(replacement: Expression) extends RuntimeReplaceable with InheritAnalysisRules {
  override def parameters: Seq[Expression] = Seq(replacement)
  override def prettyName: String = BucketColumn.Name
  override protected def withNewChildInternal(newChild: Expression): GivenBucket = copy(replacement = newChild)
}

/**
 * Matches: a write by position into a bucketed Delta table. Its query has the user's columns only.
 * Produces: the same write with one more column, for the bucket, before Delta compares the number of columns.
 * Not when: the write is by name, or the query has a column of that name itself: Delta checks its values.
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
    else Project(query.output.patch(position, Seq(Alias(bucket(query, target), BucketColumn.Name)()), 0), query)
  }

  /** The columns of the query match the visible columns by position, whatever their names. */
  private def bucket(query: LogicalPlan, target: BucketedTarget): Expression = {
    val names = target.relation.output.map(_.name).filterNot(_ == BucketColumn.Name)
    val keys = target.layout.keys.zip(target.layout.keyTypes).map { case (key, keyType) =>
      val column = query.output(names.indexWhere(conf.resolver(_, key)))
      if (column.dataType == keyType) column else Cast(column, keyType)
    }
    GivenBucket(BucketedWrite.bucketId(keys, target.layout.buckets))
  }

  private def tooFew(query: LogicalPlan, relation: DataSourceV2Relation): Throwable =
    QueryCompilationErrors.cannotWriteNotEnoughColumnsToTableError(
      relation.name, relation.output.map(_.name).filterNot(_ == BucketColumn.Name), query.output)
}
