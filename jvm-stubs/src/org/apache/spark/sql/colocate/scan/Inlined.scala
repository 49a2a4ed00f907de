package org.apache.spark.sql.colocate.scan

import org.apache.spark.sql.catalyst.expressions._

/** An expression over a projection's output, in terms of the projection's input. */
private[colocate] object Inlined {

  def apply(expression: Expression, projection: Seq[NamedExpression]): Expression = {
    val made = projection.collect { case alias: Alias => alias.exprId -> alias.child }.toMap
    expression.transform { case a: Attribute => made.getOrElse(a.exprId, a) }.transformUp(unpack)
  }

  /** A field of a struct that is made in the same place is that field's expression. */
  private val unpack: PartialFunction[Expression, Expression] = {
    case GetStructField(KnownNotNull(made: CreateNamedStruct), ordinal, _) => made.valExprs(ordinal)
    case GetStructField(made: CreateNamedStruct, ordinal, _) => made.valExprs(ordinal)
  }
}
