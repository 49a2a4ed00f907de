package org.apache.spark.sql.colocate.write.target

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodeGenerator, CodegenContext, ExprCode, FalseLiteral}
import org.apache.spark.sql.catalyst.expressions.{Cast, Expression}
import org.apache.spark.sql.types.{BooleanType, DataType, StringType}
import org.apache.spark.unsafe.types.UTF8String

/**
 * True; fails for a row of no range partition, before Delta refuses it with an error about a hidden column, and for a
 * row of another partition than the statement names. In a filter it counts as not deterministic, so that it is asked
 * of the rows that are written and of no others.
 *
 * @param values     of the range columns, as text
 * @param names      of the range columns
 * @param repeatable whether it counts as deterministic, as the commands UPDATE and MERGE need
 */
case class RowInSomeRange(
    partition: Expression,
    values: Seq[Expression],
    names: Seq[String],
    refusal: RangeRefusal,
    repeatable: Boolean = false)
    extends Expression {

  @transient private lazy val only = refusal.only.map(UTF8String.fromString).toSet

  override lazy val deterministic: Boolean = repeatable && children.forall(_.deterministic)
  override def children: Seq[Expression] = partition +: values
  override def dataType: DataType = BooleanType
  override def nullable: Boolean = false
  override def prettyName: String = "row_in_some_range"

  override def eval(input: InternalRow): Any = {
    val found = partition.eval(input).asInstanceOf[UTF8String]
    if (found == null || !takes(found)) refuse(found, values.map(_.eval(input).asInstanceOf[UTF8String]).toArray)
    true
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val self = ctx.addReferenceObj("inSomeRange", this)
    val found = partition.genCode(ctx)
    val texts = values.map(_.genCode(ctx))
    val array = ctx.freshName("texts")
    val filled = texts.zipWithIndex.map { case (text, i) =>
      s"${text.code}\n$array[$i] = ${text.isNull} ? null : ${text.value};"
    }.mkString("\n")
    val isOther = if (refusal.only.isEmpty) "false" else s"!$self.takes(${found.value})"
    val code = code"""
      ${found.code}
      if (${found.isNull} || $isOther) {
        UTF8String[] $array = new UTF8String[${texts.size}];
        $filled
        $self.refuse(${found.isNull} ? null : ${found.value}, $array);
      }
      final ${CodeGenerator.javaType(dataType)} ${ev.value} = true;"""
    ev.copy(code = code, isNull = FalseLiteral)
  }

  /** Called by generated code, too; so is the next one. */
  def takes(found: UTF8String): Boolean = refusal.only.isEmpty || only(found)

  def refuse(found: UTF8String, values: Array[UTF8String]): Unit = {
    val row = names.zip(values).map { case (name, value) => s"$name = ${Option(value).getOrElse("NULL")}" }
    throw refusal.of(row.mkString(", "), Option(found).map(_.toString))
  }

  override protected def withNewChildrenInternal(children: IndexedSeq[Expression]): RowInSomeRange =
    copy(partition = children.head, values = children.tail)
}

object RowInSomeRange {

  /** As the message shows them. */
  def shown(value: Expression): Expression =
    if (value.dataType == StringType) value else Cast(value, StringType, Some("UTC"))
}
