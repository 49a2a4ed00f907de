package org.apache.spark.sql.colocate.rules.aggregate

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{Expand, LogicalPlan}
import org.apache.spark.sql.catalyst.plans.physical.{Partitioning, PartitioningCollection}
import org.apache.spark.sql.classic.{SparkSession, Strategy}
import org.apache.spark.sql.colocate.partitioning.ColocatedPartitioning
import org.apache.spark.sql.colocate.rules.{Rewrite, RuleTable}
import org.apache.spark.sql.colocate.scan.MemberScans
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

/**
 * Matches: an Expand (grouping sets, several DISTINCTs) of a query that may read members.
 * Produces: an [[ExpandWithinBuckets]], so that an aggregate above it on the bucket key needs no shuffle.
 * Not when: no member is below: Spark's own plan stays.
 */
case class PlanExpands(session: SparkSession) extends Strategy {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case expand: Expand if RuleTable.isActive("PlanExpands") =>
      Rewrite.strategy("PlanExpands", session, this, expand)(planned(expand))
    case _ => Nil
  }

  private def planned(expand: Expand): Seq[SparkPlan] =
    if (!MemberScans.concernsPlan(session, expand)) Nil
    else new ExpandWithinBuckets(expand.projections, expand.output, planLater(expand.child)) :: Nil
}
