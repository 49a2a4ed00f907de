package org.apache.spark.sql.colocate.write

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.spark.sql.catalyst.SQLConfHelper
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.catalog.{RangeEntry, RangeProperties}
import org.apache.spark.sql.colocate.columns.RangeColumn
import org.apache.spark.sql.colocate.evidence.delta.DeltaTables
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.types.StructType

/**
 * The range partitions of a table that a statement writes to.
 *
 * @param expression gives a row's partition, over columns by the names of the table's schema
 * @param partitions as the table's property lists them; only for messages
 */
case class RangedRows(table: String, expression: Expression, partitions: Seq[RangeEntry]) extends SQLConfHelper {

  private val MostShown = 10

  /** The partition of a query's rows; None if the query lacks a range column: then Delta alone checks it. */
  def partitionOf(columns: Seq[Attribute]): Option[Expression] = RangeColumn.over(expression, named(columns, _))

  /** The query, which fails where a row belongs to no partition. */
  def checked(query: LogicalPlan): LogicalPlan = partitionOf(query.output).fold(query) { partition =>
    val names = columns.map(_.name)
    val values = names.flatMap(named(query.output, _))
    Filter(RowInSomeRange(partition, values.map(RowInSomeRange.shown), names, message), query)
  }

  /** In the table's order. */
  private lazy val columns: Seq[AttributeReference] =
    expression.collect { case a: AttributeReference => a }.distinctBy(_.exprId).sortBy(_.exprId.id)

  private def named(columns: Seq[Attribute], name: String): Option[Attribute] =
    columns.find(c => conf.resolver(c.name, name))

  private def message: (String, String) = {
    val open = RangeProperties.open(partitions)
    val shown = open.take(MostShown) ++ Option.when(open.size > MostShown)(s"${open.size - MostShown} more")
    (s"Cannot load into $table: the row with ",
      s" belongs to none of its ${partitions.size} range partitions. No partition has the rows of " +
        s"${shown.mkString(", ")}. Nothing was written. Leave such rows out, or add a partition for them: CALL " +
        s"system.add_partition(table => '$table', partition => 'name', upper => 'value').")
  }
}

object RangedRows {

  def of(session: SparkSession, table: Table): Option[RangedRows] =
    DeltaTables.rangesOf(table).flatMap { text =>
      val properties = table.properties().asScala.toMap
      val name = table.name().stripPrefix("spark_catalog.")
      // A session without the extension may have changed the property, which is needed for messages only.
      val partitions = Try(RangeProperties.entries(properties)).getOrElse(Nil)
      of(session, name, text, DeltaTables.snapshotSchema(table), partitions)
    }

  def of(
      session: SparkSession,
      table: String,
      expression: String,
      schema: StructType,
      partitions: Seq[RangeEntry]): Option[RangedRows] =
    RangeColumn.resolve(session, expression, schema).map(RangedRows(table, _, partitions))
}
