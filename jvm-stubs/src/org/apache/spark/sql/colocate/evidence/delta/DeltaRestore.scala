package org.apache.spark.sql.colocate.evidence.delta

import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.execution.command.RunnableCommand

/**
 * What RESTORE makes of a table that has a name.
 *
 * @param restored the table as the version has it: its columns, properties and layout
 */
case class DeltaRestore(table: CatalogTable, restored: Table)

object DeltaRestore {
  import DeltaReflection.call

  private val Command = "org.apache.spark.sql.delta.commands.RestoreTableCommand"

  def of(command: RunnableCommand): Option[DeltaRestore] =
    if (command.getClass.getName != Command) None
    else {
      val restored = call(command, "sourceTable").asInstanceOf[Table]
      call(restored, "catalogTable").asInstanceOf[Option[CatalogTable]].map(DeltaRestore(_, restored))
    }
}
