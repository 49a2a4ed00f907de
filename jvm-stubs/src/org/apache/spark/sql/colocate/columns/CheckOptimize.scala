package org.apache.spark.sql.colocate.columns

import org.apache.spark.sql.catalyst.analysis.{ResolvedTable, UnresolvedAttribute}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.evidence.delta.{DeltaCommands, DeltaTables}
import org.apache.spark.sql.colocate.layout.{DeclaredTable, HiddenColumns}

/**
 * Matches: OPTIMIZE of a Delta table with hidden columns whose condition names a column that is not a partition column.
 * Produces: an error. Delta's own lists all partition columns, the hidden ones too.
 * Not when: the condition names a hidden column, which is a partition column.
 */
private[columns] object CheckOptimize {

  def apply(session: SparkSession, plan: LogicalPlan): Unit = {
    val conditions = DeltaCommands.conditionsOfOptimize(plan)
    if (conditions.nonEmpty) plan.children.collectFirst {
      case found: ResolvedTable if DeltaTables.hidesColumns(session, found.table) =>
        conditions.foreach(check(session, found, _))
    }
  }

  private def check(session: SparkSession, found: ResolvedTable, condition: String): Unit = {
    val columns = new DeclaredTable(found.table).partitioning().flatMap(_.references()).map(_.describe)
    val resolver = session.sessionState.conf.resolver
    session.sessionState.sqlParser.parseExpression(condition).collect { case named: UnresolvedAttribute => named.name }
      .find(name => !columns.exists(resolver(_, name)) && !HiddenColumns.isReserved(name))
      .foreach { name =>
        val has = if (columns.isEmpty) "it has none" else s"it has ${columns.mkString(", ")}"
        throw new ColocateException("NO_PARTITION_COLUMN",
          s"Cannot OPTIMIZE ${found.name} WHERE $condition: $name is none of its partition columns ($has). " +
            (if (columns.isEmpty) "Leave WHERE out." else "Name a partition column, or leave WHERE out."))
      }
  }
}
