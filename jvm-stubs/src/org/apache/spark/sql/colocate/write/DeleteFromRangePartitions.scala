package org.apache.spark.sql.colocate.write

import org.apache.spark.sql.catalyst.analysis.EliminateSubqueryAliases
import org.apache.spark.sql.catalyst.expressions.{In, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{DeleteFromTable, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.columns.RangeColumn
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

/**
 * Matches: Doris' `DELETE FROM t PARTITION p`, whose condition has InNamedPartitions.
 * Produces: the same DELETE with a condition on the hidden partition column, so Delta looks at files of the named
 * partitions only.
 * Not when: the table is not known yet. A table without range partitions is an error.
 */
case class DeleteFromRangePartitions(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case delete: DeleteFromTable if delete.table.resolved && namesPartitions(delete) =>
      delete.copy(condition = delete.condition.transform { case named: InNamedPartitions => onColumn(delete, named) })
  }

  private def namesPartitions(delete: DeleteFromTable): Boolean =
    delete.condition.exists(_.isInstanceOf[InNamedPartitions])

  private def onColumn(delete: DeleteFromTable, named: InNamedPartitions): In = {
    val found = for {
      relation <- Option(EliminateSubqueryAliases(delete.table)).collect { case v2: DataSourceV2Relation => v2 }
      ranges <- RangedRows.of(session, relation.table)
      column <- relation.output.find(_.name == RangeColumn.Name)
    } yield In(column, ranges.named(named.names).map(Literal(_)))
    found.getOrElse(throw new ColocateException("RANGE_TABLE",
      s"Cannot delete from partition ${named.names.mkString(", ")}: the target is no table with range " +
        s"partitions. Write the rows to delete into WHERE."))
  }
}
