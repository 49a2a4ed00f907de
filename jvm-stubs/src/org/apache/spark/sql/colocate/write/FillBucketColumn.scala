package org.apache.spark.sql.colocate.write

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.layout.{BucketColumn, HiddenColumns, RangeColumn}
import org.apache.spark.sql.colocate.write.target.{BucketedTarget, WriteByPartitionsBuckets}
import org.apache.spark.sql.errors.QueryCompilationErrors
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

/**
 * A hidden column in a write by position, until LayOutWrites removes it and Delta computes it. A command that Delta
 * makes from the write is not seen by that rule; there this expression computes the value.
 */
case class GivenBucket(replacement: Expression) extends RuntimeReplaceable with InheritAnalysisRules {
  override def parameters: Seq[Expression] = Seq(replacement)
  override def prettyName: String = "hidden_column"
  override protected def withNewChildInternal(newChild: Expression): GivenBucket = copy(replacement = newChild)
}

/**
 * Matches: a write by position into a Delta table with buckets or range partitions. Its query has the user's columns
 * only.
 * Produces: the same write with the hidden columns, before Delta compares the number of columns.
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
    val visible = visibleNames(target.relation)
    if (givesHidden(query, target.relation)) query
    else if (query.output.size < visible.size) throw tooFew(query, target.relation)
    else {
      // The columns of the query match the visible columns by position, whatever their names.
      def named(name: String): Option[Attribute] =
        Some(visible.indexWhere(conf.resolver(_, name))).filter(_ >= 0).map(query.output)
      val values = hidden(target, named)
      val all = target.relation.output.zipWithIndex.foldLeft(query.output: Seq[NamedExpression]) {
        case (list, (column, at)) =>
          values.get(column.name).fold(list)(value => list.patch(at, Seq(Alias(GivenBucket(value), column.name)()), 0))
      }
      Project(all, query)
    }
  }

  private def givesHidden(query: LogicalPlan, relation: DataSourceV2Relation): Boolean = {
    val names = relation.output.map(_.name).filter(HiddenColumns.contains)
    query.output.size >= relation.output.size && query.output.exists(c => names.contains(c.name))
  }

  private def hidden(target: BucketedTarget, named: String => Option[Attribute]): Map[String, Expression] = {
    val bucket = target.layout.map { layout =>
      val keys = layout.keys.zip(layout.keyTypes).map { case (key, keyType) =>
        HiddenColumns.asStored(named(key).get, keyType)
      }
      BucketColumn.Name -> BucketColumn.idOf(keys, WriteByPartitionsBuckets.numberOf(layout, named).get)
    }
    val range = target.ranges.map(ranges => RangeColumn.Name -> RangeColumn.over(ranges.expression, named).get)
    (bucket ++ range).toMap
  }

  private def visibleNames(relation: DataSourceV2Relation): Seq[String] =
    relation.output.map(_.name).filterNot(HiddenColumns.contains)

  private def tooFew(query: LogicalPlan, relation: DataSourceV2Relation): Throwable =
    QueryCompilationErrors.cannotWriteNotEnoughColumnsToTableError(
      relation.name, visibleNames(relation), query.output)
}
