package org.apache.spark.sql.colocate.testing

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.layout.RangeColumn
import org.apache.spark.sql.colocate.write.target.RowInSomeRange
import org.apache.spark.sql.types.StringType

/** Loads that find a wrong range partition for their rows: in the column that Delta computes, and in our own check. */
object WrongRanges extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = PlantedBugs.planted match {
    case Some("bound_taken_by_lower_range") => computed(plan)(_.transform { case GreaterThanOrEqual(value, bound) =>
      GreaterThan(value, bound)
    })
    case Some("null_taken_by_higher_range") => computed(plan)(nullsAbove)
    case Some("hole_filled") => computed(plan)(withoutHoles)
    case _ => plan
  }

  private def computed(plan: LogicalPlan)(wrong: Expression => Expression): LogicalPlan =
    plan.transformAllExpressions {
      case column @ Alias(partition: CaseWhen, RangeColumn.Name) => column.withNewChildren(Seq(wrong(partition)))
      case check: RowInSomeRange if check.partition.isInstanceOf[CaseWhen] =>
        check.copy(partition = wrong(check.partition))
    }

  /** Once: Spark asks a rule again until it changes nothing. */
  private def nullsAbove(expression: Expression): Expression = expression match {
    case done: Coalesce => done
    case above: GreaterThanOrEqual => Coalesce(Seq(above, Literal.TrueLiteral))
    case other => other.mapChildren(nullsAbove)
  }

  /** The expression is not a CASE then: a rule may see it again. */
  private def withoutHoles(partition: Expression): Expression = {
    val first = partition.collectFirst { case name @ Literal(value, StringType) if value != null => name }
    Coalesce(partition +: first.toSeq)
  }
}
