package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.SaveMode
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, ReplaceTableAsSelect}
import org.apache.spark.sql.connector.catalog.SupportsV1OverwriteWithSaveAsTable
import org.apache.spark.sql.execution.command.{RunnableCommand, SaveAsV1TableCommand}
import org.apache.spark.sql.execution.datasources.CreateTable

/** What `df.write.mode("overwrite").saveAsTable(t)` becomes. Since Spark 4.1 its plans say that they come from it. */
object V1Writers {

  private val V1 = SupportsV1OverwriteWithSaveAsTable.OPTION_NAME

  /** Of a table of a catalog, such as Delta's. */
  def isOverwrite(replace: ReplaceTableAsSelect): Boolean = replace.writeOptions.contains(V1)

  /** The options of a statement that replaces the table, and is no overwrite. */
  def asReplace(options: Map[String, String]): Map[String, String] = options - V1

  /** The overwrite of a native table: the command, and the second half of what it does, after the drop. */
  object Native {
    def unapply(plan: LogicalPlan): Option[(RunnableCommand, CreateTable)] = plan match {
      case save: SaveAsV1TableCommand if save.mode == SaveMode.Overwrite =>
        Some(save -> CreateTable(save.tableDesc, save.mode, Some(save.query)))
      case _ => None
    }
  }
}
