package org.apache.spark.sql.colocate.rules.aggregate

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.physical.{Partitioning, PartitioningCollection}
import org.apache.spark.sql.colocate.partitioning.ColocatedPartitioning
import org.apache.spark.sql.execution.{ExpandExec, SparkPlan}

/**
 * Spark's Expand (grouping sets, several DISTINCTs) with an output partitioning: the copies of a row stay in its task,
 * so the rows stay partitioned by each column that *all* projections fill with the key itself. Under ROLLUP and CUBE
 * some projection puts null there, and the output has no partitioning.
 */
class ExpandWithinBuckets(projections: Seq[Seq[Expression]], output: Seq[Attribute], child: SparkPlan)
    extends ExpandExec(projections, output, child) {

  override def outputPartitioning: Partitioning = {
    val kept = ColocatedPartitioning.all(child.outputPartitioning).flatMap(through)
    if (kept.isEmpty) super.outputPartitioning else PartitioningCollection(kept)
  }

  private def through(layout: ColocatedPartitioning): Seq[ColocatedPartitioning] =
    layout.expressions
      .map(columnsOf)
      .foldLeft(Seq(Seq.empty[Attribute]))((found, columns) => found.flatMap(keys => columns.map(keys :+ _)))
      .map(ColocatedPartitioning(_, layout.numPartitions))

  private def columnsOf(key: Expression): Seq[Attribute] = output.zipWithIndex.collect {
    case (column, index) if fills(projections.map(_(index).semanticEquals(key))) => column
  }

  /** Is a column the key, given which of the projections fill it with the key? */
  protected def fills(each: Seq[Boolean]): Boolean = each.forall(identity)

  override protected def withNewChildInternal(newChild: SparkPlan): ExpandExec =
    new ExpandWithinBuckets(projections, output, newChild)
}
