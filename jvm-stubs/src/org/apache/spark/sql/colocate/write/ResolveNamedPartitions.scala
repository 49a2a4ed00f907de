package org.apache.spark.sql.colocate.write

import org.apache.spark.sql.catalyst.analysis.EliminateSubqueryAliases
import org.apache.spark.sql.catalyst.expressions.{In, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{DeleteFromTable, InsertIntoStatement, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.layout.RangeColumn
import org.apache.spark.sql.colocate.write.target.{InNamedPartitions, NamedPartitions, RangedRows}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

/**
 * Matches: Doris' `INSERT INTO t PARTITION (p, q)`, or `INSERT OVERWRITE`, on a Delta table with range partitions,
 * where no name is a partition column; and Doris' `DELETE FROM t PARTITION p`, whose condition has InNamedPartitions.
 * It runs before Spark's ResolveInsertInto sees the table, which knows partition columns only.
 * Produces: an INSERT into `t` whose relation keeps the names, so LayOutWrites refuses rows of other partitions, and
 * overwrites these only; a DELETE with a condition on the hidden partition column, so Delta looks at files of the named
 * partitions only.
 * Not when: an INSERT names a partition column or a value: Spark's own clause. A DELETE from a table without range
 * partitions is an error.
 */
case class ResolveNamedPartitions(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case insert: InsertIntoStatement if hasNames(insert) =>
      insert.table match {
        case relation: DataSourceV2Relation if !namesColumn(relation, insert.partitionSpec.keys) =>
          RangedRows.of(session, relation.table).fold(insert)(limited(insert, relation, _))
        case _ => insert
      }
    case delete: DeleteFromTable if delete.table.resolved && namesPartitions(delete) =>
      delete.copy(condition = delete.condition.transform { case named: InNamedPartitions => onColumn(delete, named) })
  }

  private def hasNames(insert: InsertIntoStatement): Boolean =
    insert.partitionSpec.nonEmpty && insert.partitionSpec.values.forall(_.isEmpty)

  private def namesPartitions(delete: DeleteFromTable): Boolean =
    delete.condition.exists(_.isInstanceOf[InNamedPartitions])

  private def namesColumn(relation: DataSourceV2Relation, names: Iterable[String]): Boolean = {
    val columns = NamedPartitions.columns(relation.table)
    names.exists(name => columns.exists(conf.resolver(_, name)))
  }

  private def limited(
      insert: InsertIntoStatement, relation: DataSourceV2Relation, ranges: RangedRows): InsertIntoStatement = {
    val names = ranges.named(insert.partitionSpec.keys.toSeq)
    insert.copy(table = NamedPartitions.on(relation, names), partitionSpec = Map.empty)
  }

  private def onColumn(delete: DeleteFromTable, named: InNamedPartitions): In = {
    val found = for {
      relation <- Option(EliminateSubqueryAliases(delete.table)).collect { case v2: DataSourceV2Relation => v2 }
      ranges <- RangedRows.of(session, relation.table)
      column <- relation.output.find(_.name == RangeColumn.Name)
    } yield In(column, ranges.named(named.names).map(Literal(_)))
    found.getOrElse(throw new ColocateException("RANGE_TABLE",
      s"Cannot delete from partition ${named.names.mkString(", ")}: the target is not a table with range " +
        s"partitions. Write the rows to delete into WHERE."))
  }
}
