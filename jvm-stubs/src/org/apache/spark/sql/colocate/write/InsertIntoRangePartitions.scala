package org.apache.spark.sql.colocate.write

import org.apache.spark.sql.catalyst.plans.logical.{InsertIntoStatement, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

/**
 * Matches: Doris' `INSERT INTO t PARTITION (p, q)` on a Delta table with range partitions, where no name is a partition
 * column. It runs before Spark's ResolveInsertInto sees the table, which knows partition columns only.
 * Produces: `INSERT INTO t` whose relation keeps the names. LayOutWrites then refuses rows of other partitions.
 * Not when: a partition column or a value is named, or the statement overwrites: Spark's own clause.
 */
case class InsertIntoRangePartitions(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case insert: InsertIntoStatement if hasNames(insert) =>
      insert.table match {
        case relation: DataSourceV2Relation if !namesColumn(relation, insert.partitionSpec.keys) =>
          RangedRows.of(session, relation.table).fold(insert)(limited(insert, relation, _))
        case _ => insert
      }
  }

  private def hasNames(insert: InsertIntoStatement): Boolean =
    !insert.overwrite && insert.partitionSpec.nonEmpty && insert.partitionSpec.values.forall(_.isEmpty)

  private def namesColumn(relation: DataSourceV2Relation, names: Iterable[String]): Boolean = {
    val columns = NamedPartitions.columns(relation.table)
    names.exists(name => columns.exists(conf.resolver(_, name)))
  }

  private def limited(
      insert: InsertIntoStatement, relation: DataSourceV2Relation, ranges: RangedRows): InsertIntoStatement = {
    val names = ranges.named(insert.partitionSpec.keys.toSeq)
    insert.copy(table = NamedPartitions.on(relation, names), partitionSpec = Map.empty)
  }
}
