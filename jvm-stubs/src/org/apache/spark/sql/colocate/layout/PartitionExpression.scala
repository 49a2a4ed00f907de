package org.apache.spark.sql.colocate.layout

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeSeq, Attribute, BindReferences, Expression, Literal}
import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String

/**
 * The expression by which Delta computes a row's range partition, over columns by the names of the table's schema. With
 * a thousand partitions it has thousands of nodes, so what each plan needs of it is computed once.
 */
class PartitionExpression(val expression: Expression) {

  /** The range columns. */
  lazy val columns: Seq[Attribute] = expression.references.toSeq

  lazy val isDeterministic: Boolean = expression.deterministic

  lazy val names: Set[UTF8String] =
    expression.collect { case Literal(name: UTF8String, _: StringType) => name }.toSet

  private lazy val bound = BindReferences.bindReference(expression, AttributeSeq(columns))

  /** The partition of a row with these values of the range columns; None in a hole. */
  def of(values: Seq[Any]): Option[String] = Option(bound.eval(InternalRow.fromSeq(values))).map(_.toString)
}
