package org.apache.spark.sql.colocate.doris.keys

import org.apache.spark.sql.catalyst.SQLConfHelper
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan, Project, RepartitionByExpression}
import org.apache.spark.sql.colocate.layout.HiddenColumns
import org.apache.spark.sql.types.StructType

/**
 * Reduces a load to one row for each key, if the order of rows matters to the table: among rows with equal keys the
 * last one in the order of the query counts. This is done before the shuffle of the load, which does not keep that
 * order.
 *
 * @param schema the table's columns
 * @param table  its name, for errors
 */
case class LastRowOfLoad(model: KeyModel, schema: StructType, table: String) extends SQLConfHelper {

  /** @param buckets the bucket keys and the number of buckets, so that the write needs no shuffle of its own */
  def of(query: LogicalPlan, buckets: Option[(Seq[Expression], Int)]): LogicalPlan = {
    val columns = query.output.filterNot(c => HiddenColumns.contains(c.name))
    val keys = columns.filter(c => model.isKey(c.name))
    if (!model.replaces || keys.size != model.keys.size) query
    else {
      val order = Alias(MonotonicallyIncreasingID(), "order")()
      val numbered = Project(columns.map(stored) :+ order, query)
      val rows = numbered.output.init
      val apart = buckets.fold[LogicalPlan](numbered) { case (by, n) =>
        RepartitionByExpression(by.map(renamed(_, columns, rows)), numbered, n)
      }
      val results = columns.zip(rows).map { case (column, row) =>
        val value = if (model.isKey(row.name)) row else KeyFunctions(functionOf(row.name), row, order.toAttribute)
        Alias(value, column.name)(column.exprId, column.qualifier, Some(column.metadata))
      }
      Aggregate(rows.filter(row => model.isKey(row.name)), results, apart)
    }
  }

  /** A column that the load adds to the table has no function yet. */
  private def functionOf(column: String): String =
    if (schema.fieldNames.exists(conf.resolver(_, column))) model.aggregateOf(column, table) else KeyModel.Replace

  /** With an id of its own, because the aggregated column keeps the query's. */
  private def stored(column: Attribute): Alias = {
    val wanted = schema.find(field => conf.resolver(field.name, column.name)).map(_.dataType)
    Alias(wanted.fold[Expression](column)(HiddenColumns.asStored(column, _)), column.name)(
      explicitMetadata = Some(column.metadata))
  }

  private def renamed(key: Expression, from: Seq[Attribute], to: Seq[Attribute]): Expression = key.transform {
    case column: Attribute => to(from.indexWhere(_.exprId == column.exprId))
  }
}
