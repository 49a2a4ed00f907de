package org.apache.spark.sql.colocate.evidence.manifest

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.plans.logical.{Command, DropNamespace, LogicalPlan}
import org.apache.spark.sql.connector.catalog.Identifier
import org.apache.spark.sql.execution.command.DropDatabaseCommand

/**
 * Matches: a command that names a table whose file list is still being saved. What the tasks of a statement found out
 * about the files of a table is saved in the background.
 * Produces: the same plan, once the list is saved.
 * Not when: it is a query, or a command on other tables: they don't wait.
 */
object WaitForManifests extends (LogicalPlan => Unit) {

  // A command and the table in it, in its relation, in its catalog entry.
  private val Depth = 3

  override def apply(plan: LogicalPlan): Unit =
    if (Manifest.isSaving && plan.exists(_.isInstanceOf[Command])) {
      if (plan.exists(dropsAll)) Manifest.awaitSaved(_ => true)
      else {
        val names = plan.collect { case command => named(command, Depth) }.flatten.map(_.toLowerCase).toSet
        Manifest.awaitSaved(table => names.contains(table.toLowerCase))
      }
    }

  private def dropsAll(plan: LogicalPlan): Boolean = plan match {
    case _: DropDatabaseCommand | _: DropNamespace => true
    case _ => false
  }

  /** The names of tables in a command, without their databases. At worst it waits for another table of that name. */
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
