package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, ReplaceTableAsSelect}
import org.apache.spark.sql.execution.command.RunnableCommand
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

  /** Of a native table there is no command: the writer itself drops the old table, before any rule is asked. */
  object Native {
    def unapply(plan: LogicalPlan): Option[(RunnableCommand, CreateTable)] = None
  }
}
