package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.SaveMode
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, ReplaceTableAsSelect}
import org.apache.spark.sql.execution.command.{CreateDataSourceTableAsSelectCommand, RunnableCommand}
import org.apache.spark.sql.execution.datasources.CreateTable

/** What `df.write.mode("overwrite").saveAsTable(t)` becomes. In Spark 4.0 no plan says that it comes from it. */
object V1Writers {

  private val Writer = "org.apache.spark.sql.classic.DataFrameWriter"

  /** Of a table of a catalog, such as Delta's, which looks for the writer on the stack, too. */
  def isOverwrite(replace: ReplaceTableAsSelect): Boolean = StackWalker.getInstance().walk { frames =>
    frames.map(_.getClassName).anyMatch(name => name == Writer || name.startsWith(Writer + "$"))
  }

  /** The options of a statement that replaces the table, and is no overwrite. */
  def asReplace(options: Map[String, String]): Map[String, String] = options

  /**
   * The overwrite of a native table: the command, which drops the old table when it runs, and a CREATE of the new one.
   * No other statement gives a CREATE TABLE AS SELECT this mode.
   */
  object Native {
    def unapply(plan: LogicalPlan): Option[(RunnableCommand, CreateTable)] = plan match {
      case save: CreateDataSourceTableAsSelectCommand if save.mode == SaveMode.Overwrite =>
        Some(save -> CreateTable(save.table, SaveMode.ErrorIfExists, Some(save.query)))
      case _ => None
    }
  }
}
