package org.apache.spark.sql.colocate.layout

import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Cast, Expression, Literal}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.connector.catalog.Column
import org.apache.spark.sql.types.{StringType, StructField, StructType}

/**
 * The hidden partition column of a Delta table with range partitions:
 * `_colocate_range STRING NOT NULL GENERATED ALWAYS AS (CASE WHEN d >= DATE '2017-02-01' THEN 'p2' ELSE 'p1' END)`. It
 * is null for a row of no partition, which Delta then refuses.
 */
object RangeColumn {

  val Name = "_colocate_range"

  /** The text that a *snapshot's* column is computed by; None without a column of ours. */
  def expressionOf(schema: StructType): Option[String] =
    schema.find(f => f.name == Name && f.dataType == StringType).flatMap(BucketColumn.generation)

  def column(expression: String): Column = Column.create(Name, StringType, false, null, expression, null)

  private val resolved = new Recent[(String, String, StructType), Option[PartitionExpression]]

  /** The text as an expression over columns of the schema, each by its name; None if it can't be resolved. */
  def resolve(session: SparkSession, text: String, schema: StructType): Option[Expression] =
    partition(session, text, schema).map(_.expression)

  def partition(session: SparkSession, text: String, schema: StructType): Option[PartitionExpression] = {
    val plain = StructType(HiddenColumns.without(schema).map(f => StructField(f.name, f.dataType)))
    resolved.getOrElse((session.sessionUUID, text, plain)) {
      GeneratedTexts.resolve(session, Seq(text), plain).map(found => new PartitionExpression(found.head))
    }
  }

  /** The columns that decide a row's range partition, from a snapshot's schema. */
  def columns(session: SparkSession, schema: StructType): Seq[String] =
    expressionOf(schema).flatMap(resolve(session, _, schema)).toSeq.flatMap(_.references.toSeq.map(_.name)).distinct

  /** Stands in the expression for the partition of rows in a hole. */
  def isHole(part: Expression): Boolean = part match {
    case Literal(null, _) => true
    case cast: Cast => isHole(cast.child)
    case _ => false
  }

  /** The expression over other values, such as a query's columns, as the table's types; None if the query lacks one. */
  def over(expression: Expression, found: String => Option[Expression]): Option[Expression] = {
    val used = expression.references.toSeq.map(_.name).distinct
    Option.when(used.forall(found(_).isDefined))(expression.transformUp { case a: AttributeReference =>
      HiddenColumns.asStored(found(a.name).get, a.dataType)
    })
  }
}
