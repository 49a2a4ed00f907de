package org.apache.spark.sql.colocate.write.merge

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{ArrayType, DataType}

/** Any element of an array, as `explode` returns it. */
private[colocate] case class AnyElement(child: Expression) extends UnaryExpression with Unevaluable {
  override def dataType: DataType = child.dataType.asInstanceOf[ArrayType].elementType
  override protected def withNewChildInternal(newChild: Expression): AnyElement = copy(newChild)
}

/** The expressions that an expression's value can come from, besides null: the branches of its conditionals. */
private[colocate] object PossibleValues {

  def of(expression: Expression): Seq[Expression] = expression match {
    case Literal(null, _) | _: RaiseError | Cast(_: RaiseError, _, _, _) => Nil
    case If(_, yes, no) => of(yes) ++ of(no)
    case CaseWhen(branches, otherwise) => branches.flatMap(b => of(b._2)) ++ otherwise.toSeq.flatMap(of)
    case Coalesce(children) => children.flatMap(of)
    case KnownNotNull(child) => of(child)
    case Alias(child, _) => of(child) // Spark keeps one within a struct if the column has metadata, as ours has
    case GetStructField(struct, ordinal, _) => of(struct).flatMap(field(_, ordinal))
    case AnyElement(array) => of(array).flatMap(elements)
    case other => Seq(other)
  }

  private def field(struct: Expression, ordinal: Int): Seq[Expression] = struct match {
    case made: CreateNamedStruct => of(made.valExprs(ordinal))
    case other => Seq(GetStructField(other, ordinal))
  }

  private def elements(array: Expression): Seq[Expression] = array match {
    case CreateArray(children, _) => children.flatMap(of)
    case other => Seq(AnyElement(other))
  }
}
