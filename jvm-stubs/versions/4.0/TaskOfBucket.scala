package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types.DataType

/**
 * For a shuffle: all rows of a bucket are in one task. Spark 4.0 can't be told in which, so the task is chosen by the
 * number's hash, and some tasks have several buckets.
 */
object TaskOfBucket {
  def apply(bucket: Expression): Expression = BucketHashed(bucket)

  def unapply(expression: Expression): Boolean = expression.isInstanceOf[BucketHashed]
}

/** The bucket's number itself; its name tells such a shuffle from others. */
case class BucketHashed(child: Expression) extends UnaryExpression {
  override def dataType: DataType = child.dataType
  override protected def nullSafeEval(input: Any): Any = input
  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    defineCodeGen(ctx, ev, identity)
  override protected def withNewChildInternal(newChild: Expression): BucketHashed = copy(child = newChild)
}
