package org.apache.spark.sql.colocate.evidence.manifest

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.plans.logical.{Command, DropNamespace, LogicalPlan}
import org.apache.spark.sql.connector.catalog.Identifier
import org.apache.spark.sql.execution.command.DropDatabaseCommand

/**
 * What the tasks of one statement found out of files is saved beside it. A command that may replace or drop that table
 * begins when this is done; queries and commands on other tables do not wait.
 */
object WaitForManifests extends (LogicalPlan => Unit) {

  // A command and the table in it, in its relation, in its catalog entry.
  private val Depth = 3

  override def apply(plan: LogicalPlan): Unit =
    if (Manifest.isSaving && plan.exists(_.isInstanceOf[Command])) {
      if (plan.exists(dropsAll)) Manifest.settle(_ => true)
      else {
        val names = plan.collect { case command => named(command, Depth) }.flatten.map(_.toLowerCase).toSet
        Manifest.settle(table => names.contains(table.toLowerCase))
      }
    }

  private def dropsAll(plan: LogicalPlan): Boolean = plan match {
    case _: DropDatabaseCommand | _: DropNamespace => true
    case _ => false
  }

  /** The names of tables in a command, without their databases: a table that has the name too is waited for in vain. */
  private def named(value: Any, depth: Int): Iterator[String] = value match {
    case table: CatalogTable => Iterator(table.identifier.table)
    case table: TableIdentifier => Iterator(table.table)
    case table: Identifier => Iterator(table.name)
    case folder: Path => Iterator(folder.getName)
    case parts: Product if depth > 0 => parts.productIterator.flatMap(named(_, depth - 1))
    case several: Iterable[_] if depth > 0 => several.iterator.flatMap(named(_, depth - 1))
    case _ => Iterator.empty
  }
}
