package org.apache.spark.sql.colocate.scan

import org.apache.spark.sql.catalyst.expressions._

/** The values that a column can have under a condition: `=`, `<=>` or IN with literals. */
private[colocate] object ValuesOfKey {

  /** Null is one of them after `<=>` only; nothing else is true for it. None if the condition leaves others, too. */
  def of(column: Attribute, condition: Expression): Option[Seq[Literal]] = condition match {
    case EqualTo(a: Attribute, value: Literal) if fits(a, column, value) => Some(notNull(Seq(value)))
    case EqualTo(value: Literal, a: Attribute) if fits(a, column, value) => Some(notNull(Seq(value)))
    case EqualNullSafe(a: Attribute, value: Literal) if fits(a, column, value) => Some(Seq(value))
    case EqualNullSafe(value: Literal, a: Attribute) if fits(a, column, value) => Some(Seq(value))
    case In(a: Attribute, list) if list.forall { case v: Literal => fits(a, column, v); case _ => false } =>
      Some(notNull(list.collect { case v: Literal => v }))
    case InSet(a: Attribute, set) if a.exprId == column.exprId =>
      Some(notNull(set.toSeq.map(Literal(_, column.dataType))))
    case _ => None
  }

  /** The values that the most selective of several conditions leaves; all of them are true. */
  def fewest(column: Attribute, conditions: Seq[Expression]): Option[Seq[Literal]] =
    conditions.flatMap(of(column, _)).minByOption(_.size)

  /** All combinations of one value of each column; None if there are more than `most`. */
  def combinations(values: Seq[Seq[Literal]], most: Int): Option[Seq[Seq[Literal]]] =
    Option.when(values.map(_.size.toLong).product <= most) {
      values.foldLeft(Seq(Seq.empty[Literal]))((rows, column) => rows.flatMap(row => column.map(row :+ _)))
    }

  private def fits(a: Attribute, column: Attribute, value: Literal): Boolean =
    a.exprId == column.exprId && value.dataType == column.dataType

  private def notNull(values: Seq[Literal]): Seq[Literal] = values.filter(_.value != null)
}
