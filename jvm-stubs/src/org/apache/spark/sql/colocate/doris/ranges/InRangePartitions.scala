package org.apache.spark.sql.colocate.doris.ranges

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, FalseLiteral}
import org.apache.spark.sql.catalyst.expressions.{Expression, Predicate, UnaryExpression}
import org.apache.spark.unsafe.types.UTF8String

/**
 * Is a file's range partition one of these? It is also true for rows of no partition, which only the first commit of a
 * CREATE may have.
 *
 * @param names       the partitions that can have rows of the query
 * @param partitionOf the expression of a row's partition when these were chosen; null in a task
 */
case class InRangePartitions(child: Expression, names: Seq[String], @transient partitionOf: String)
    extends UnaryExpression with Predicate {

  @transient private lazy val wanted = names.map(UTF8String.fromString).toSet

  override def nullable: Boolean = false

  override def eval(row: InternalRow): Any = takes(child.eval(row).asInstanceOf[UTF8String])

  /** Called by generated code, too. */
  def takes(partition: UTF8String): Boolean = partition == null || wanted(partition)

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val partition = child.genCode(ctx)
    val self = ctx.addReferenceObj("partitions", this)
    val value = code"""
      ${partition.code}
      final boolean ${ev.value} = ${partition.isNull} || $self.takes(${partition.value});"""
    ev.copy(code = value, isNull = FalseLiteral)
  }

  override def toString: String = names.mkString(s"$child IN (", ",", ")")
  override def sql: String = names.mkString(s"${child.sql} IN ('", "', '", "')")

  override protected def withNewChildInternal(newChild: Expression): InRangePartitions = copy(child = newChild)
}
