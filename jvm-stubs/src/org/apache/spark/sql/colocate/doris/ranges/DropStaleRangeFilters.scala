package org.apache.spark.sql.colocate.doris.ranges

import org.apache.spark.sql.catalyst.expressions.{And, PredicateHelper}
import org.apache.spark.sql.catalyst.planning.ScanOperation
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.classic.Strategy
import org.apache.spark.sql.colocate.evidence.delta.DeltaIndexes
import org.apache.spark.sql.colocate.layout.RangeColumn
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}

/**
 * Matches: the scan of a table with the filter of [[PruneRanges]], where Delta reads another version than that rule
 * knew, with other range partitions: another driver has changed them while the query was planned.
 * Produces: the scan without that filter. Delta then chooses the files anew, by the query's own conditions.
 * Not when: the version that is read has the partitions that the filter was made for.
 */
object DropStaleRangeFilters extends Strategy with PredicateHelper {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case ScanOperation(_, _, filters, relation: LogicalRelation) =>
      val made = filters.collect { case filter: InRangePartitions => filter }
      if (made.isEmpty || made.map(_.partitionOf).forall(partitionRead(relation).contains)) Nil
      else Seq(planLater(withoutFilter(plan)))
    case _ => Nil
  }

  /** None if it is not decided yet which version will be read, as with Delta's file skipping switched off. */
  private def partitionRead(relation: LogicalRelation): Option[String] = relation.relation match {
    case files: HadoopFsRelation if DeltaIndexes.isPrepared(files.location) =>
      RangeColumn.expressionOf(DeltaIndexes.snapshotOf(files.location).schema)
    case _ => None
  }

  private def withoutFilter(plan: LogicalPlan): LogicalPlan = plan.transform { case Filter(condition, child) =>
    val own = splitConjunctivePredicates(condition).filterNot(_.isInstanceOf[InRangePartitions])
    own.reduceOption(And).fold(child)(Filter(_, child))
  }
}
