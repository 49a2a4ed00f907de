package org.apache.spark.sql.colocate.hiding

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.layout.BucketColumn

/**
 * The columns of a bucketed Delta table without its bucket column, which stays reachable by its name.
 *
 * Why not a Project: its list would be fixed before the relation gets its final attributes, and its tag for hidden
 * output is not renewed when a self-join gives one side new attributes. Here everything follows from the child.
 */
case class VisibleColumns(child: LogicalPlan) extends OrderPreservingUnaryNode with ExposesMetadataColumns {

  override def output: Seq[Attribute] = child.output.filterNot(_.name == BucketColumn.Name)

  override protected def outputExpressions: Seq[Attribute] = output

  override def metadataOutput: Seq[Attribute] = hidden ++ child.metadataOutput

  override def withMetadataColumns(): LogicalPlan = {
    val exposed = child match {
      case relation: ExposesMetadataColumns => relation.withMetadataColumns()
      case other => other
    }
    Project(output ++ hidden ++ exposed.output.filterNot(child.outputSet.contains), exposed)
  }

  private def hidden: Seq[Attribute] = child.output.filter(_.name == BucketColumn.Name)

  override protected def withNewChildInternal(newChild: LogicalPlan): VisibleColumns = copy(child = newChild)
}

/** After analysis nothing but the selection is left: plans, cached plans and metrics see an ordinary Project. */
object FinishVisibleColumns extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.transformWithSubqueries {
    case visible: VisibleColumns => Project(visible.output, visible.child)
  }
}
