package org.apache.spark.sql.colocate.doris.ranges

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.colocate.layout.{PartitionExpression, RangeColumn}
import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String

/**
 * Finds the range partitions that can have a row for which a condition is true.
 *
 * @param partition halves the ranges at each step: `CASE WHEN d >= DATE'2017-02-01' THEN 'p2' ELSE 'p1' END`
 * @param columns   the range columns, by the attributes of `partition` and of the conditions
 */
class RangeSearch(partition: PartitionExpression, columns: RangeColumns) {

  /** The partitions' names; None if the condition leaves all of them, or too little is known. */
  def partitions(condition: Expression): Option[Seq[String]] = columns.allRows.flatMap { all =>
    val rows = columns.where(all, condition)
    val names = mutable.LinkedHashSet.empty[String]
    val isKnown = rows.isEmpty || search(partition.expression, rows, ConditionCheck.of(condition, columns), names)
    Option.when(isKnown && names.size < partition.names.size)(names.toSeq)
  }

  /** False if the expression has another form than the one above. */
  private def search(
      part: Expression, rows: RowValues, check: ConditionCheck, names: mutable.Set[String]): Boolean =
    check(rows) match {
      case Chance.Never => true
      case Chance.Maybe => step(part, rows, check, names)
      case Chance.Settled => step(part, rows, ConditionCheck.NoLimit, names)
    }

  private def step(
      part: Expression, rows: RowValues, check: ConditionCheck, names: mutable.Set[String]): Boolean = part match {
    case Literal(name: UTF8String, StringType) => names += name.toString; true
    case hole if RangeColumn.isHole(hole) => true
    case CaseWhen(Seq((condition, above)), Some(below)) =>
      val (high, low) = (columns.where(rows, condition), columns.where(rows, condition, holds = false))
      (high.isEmpty || search(above, high, check, names)) && (low.isEmpty || search(below, low, check, names))
    case _ => false
  }
}
