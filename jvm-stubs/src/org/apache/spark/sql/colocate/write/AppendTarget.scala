package org.apache.spark.sql.colocate.write

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.evidence.delta.DeltaTables
import org.apache.spark.sql.colocate.layout.DeclaredTable
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

/**
 * A Delta table with hidden columns as `df.write.mode("append").saveAsTable(t)` sees it: `DataFrameWriter` compares its
 * `partitionBy` with the partition columns of the table, which must not list those that users do not see.
 */
class AppendTarget(val table: Table) extends DeclaredTable(table)

object AppendTarget {

  private val Writer = "org.apache.spark.sql.classic.DataFrameWriter"

  /** Wraps a table that is loaded for a write. Every other caller needs Delta's own class. */
  def forWriter(session: SparkSession, table: Table): Table =
    if (isForWriter && DeltaTables.hidesColumns(session, table)) new AppendTarget(table) else table

  // `insertInto` of the same class compares nothing.
  private def isForWriter: Boolean = StackWalker.getInstance().walk { frames =>
    frames.limit(8).anyMatch(frame => frame.getClassName == Writer && frame.getMethodName.startsWith("saveAsTable"))
  }

  /** The relation of the table itself. */
  def unwrapped(relation: DataSourceV2Relation): Option[DataSourceV2Relation] = relation.table match {
    case target: AppendTarget =>
      Some(DataSourceV2Relation.create(target.table, relation.catalog, relation.identifier, relation.options))
    case _ => None
  }
}
