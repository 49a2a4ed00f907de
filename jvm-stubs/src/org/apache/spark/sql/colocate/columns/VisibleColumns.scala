package org.apache.spark.sql.colocate.columns

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.colocate.compat.EditedTree
import org.apache.spark.sql.colocate.layout.HiddenColumns

/**
 * Why this is not a Project: its list would be fixed before the relation gets its final attributes, and its tag for
 * hidden output is not renewed when a self-join gives one side new attributes. Here everything follows from the child.
 */
sealed trait OverBucketColumn extends OrderPreservingUnaryNode {

  /** Offered always, as by Spark's relations: a second reference by name, above the first one, is looked up here. */
  override def metadataOutput: Seq[Attribute] = hidden ++ child.metadataOutput

  override protected def outputExpressions: Seq[Attribute] = output

  private def hidden: Seq[Attribute] = child.output.filter(c => HiddenColumns.contains(c.name))
}

/** The columns of a Delta table without its hidden ones, which stay reachable by their names. */
case class VisibleColumns(child: LogicalPlan)
    extends OverBucketColumn with ExposesMetadataColumns with EditedTree {

  override def output: Seq[Attribute] = child.output.filterNot(c => HiddenColumns.contains(c.name))

  /** Spark lists these where it does not find what stands before a star. */
  override def inputSet: AttributeSet = outputSet

  /** Errors show the plan, down to the relation, which still has the hidden columns. */
  override protected def edited(text: String): String = HiddenColumns.removedFrom(text)

  /** If the query needs metadata of the child itself, Spark calls this once more and goes on to the child. */
  override def withMetadataColumns(): LogicalPlan = AllColumns(child)

  override protected def withNewChildInternal(newChild: LogicalPlan): VisibleColumns = copy(child = newChild)
}

/** The columns of a Delta table that a query names a hidden column of. Above it, Spark hides it again. */
case class AllColumns(child: LogicalPlan) extends OverBucketColumn {

  override def output: Seq[Attribute] = child.output

  override protected def withNewChildInternal(newChild: LogicalPlan): AllColumns = copy(child = newChild)
}
