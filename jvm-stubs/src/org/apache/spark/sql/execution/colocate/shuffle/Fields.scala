package org.apache.spark.sql.execution.colocate.shuffle

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, CodeGenerator, ExprCode, JavaCode}

/** Values that generated code keeps between rows, each in two fields of its class: is it null, and what is it. */
object Fields {

  def declare(ctx: CodegenContext, name: String, of: Seq[Attribute]): Seq[ExprCode] = of.map { one =>
    val value = JavaCode.global(ctx.addMutableState(CodeGenerator.javaType(one.dataType), name), one.dataType)
    ExprCode(JavaCode.isNullGlobal(ctx.addMutableState(CodeGenerator.JAVA_BOOLEAN, s"${name}IsNull")), value)
  }

  /** `from` is evaluated before. */
  def assign(to: Seq[ExprCode], from: Seq[ExprCode]): String =
    to.zip(from).map { case (a, b) => s"${a.isNull} = ${b.isNull};\n${a.value} = ${b.value};" }.mkString("\n")

  /** As `assign`; what is not primitive is copied, because the next row may be in the same memory. */
  def keep(to: Seq[ExprCode], from: Seq[ExprCode], of: Seq[Attribute]): String =
    of.indices.map { at =>
      val (field, value, javaType) = (to(at), from(at), CodeGenerator.javaType(of(at).dataType))
      val set =
        if (CodeGenerator.isPrimitiveType(of(at).dataType)) s"${field.value} = ${value.value};"
        else {
          s"if (${field.value} != ${value.value}) " +
            s"${field.value} = ($javaType) ${classOf[InternalRow].getName}.copyValue(${value.value});"
        }
      s"${field.isNull} = ${value.isNull};\n$set"
    }.mkString("\n")

  def assignNull(to: Seq[ExprCode]): String = to.map(field => s"${field.isNull} = true;").mkString("\n")
}
