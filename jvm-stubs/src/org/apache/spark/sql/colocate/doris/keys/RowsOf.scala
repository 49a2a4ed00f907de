package org.apache.spark.sql.colocate.doris.keys

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.colocate.evidence.delta.DeltaIndexes
import org.apache.spark.sql.execution.datasources.LogicalRelation

/**
 * Selects some columns of the filtered rows of a table. Spark's scan computes the metadata of files wherever the
 * relation lists it, used or not, so it is left out of the relation where it is not used. Not where Delta has planned
 * the relation's deletion vectors before, as in a subquery that chooses partitions: Delta then reads a row's number in
 * its file.
 */
private[keys] case class RowsOf(columns: Seq[NamedExpression], filters: Seq[Expression], relation: LogicalRelation) {

  private val used = AttributeSet((columns ++ filters).flatMap(_.references))

  private val read =
    if (DeltaIndexes.marksDeletedRows(relation)) relation.output
    else relation.output.filter(c => !FileSourceMetadataAttribute.isValid(c.metadata) || used.contains(c))

  def readsLess: Boolean = read.size < relation.output.size

  def plan: LogicalPlan = {
    val rows = relation.copy(output = read)
    Project(columns, filters.reduceOption(And).fold[LogicalPlan](rows)(Filter(_, rows)))
  }
}

private[keys] object RowsOf {

  def of(plan: LogicalPlan): Option[RowsOf] = plan match {
    case PhysicalOperation(columns, filters, relation: LogicalRelation) => Some(RowsOf(columns, filters, relation))
    case _ => None
  }
}
