package org.apache.spark.sql.colocate.catalog

import java.util.Collections
import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.catalog._
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.bridge.{ControlPlane, GroupState, MemberInfo}
import org.apache.spark.sql.colocate.declared.{GroupProperties, NativeTable}

/**
 * Listens for catalog changes that do not come from our statements: the drop inside an overwrite, an API call, a
 * session without the extension in the same application. It updates the registry. A change that it misses (by another
 * application) is found by `system.reconcile`. Rows never depend on it.
 */
private class CatalogWatch(catalog: ExternalCatalog, attached: SparkSession)
  extends ExternalCatalogEventListener with Logging {

  override def onEvent(event: ExternalCatalogEvent): Unit =
    try event match {
      case DropTableEvent(db, table) => bypassed(db, table)(_ => tell("begin_drop", db, table))
      case RenameTableEvent(db, table, renamed) =>
        bypassed(db, table)(_ => tell("begin_rename", db, table, "new_db" -> db, "new_table" -> renamed))
      case CreateTableEvent(db, table) => declared(db, table)
      case AlterTableEvent(db, table, AlterTableKind.TABLE) => declared(db, table)
      case DropDatabaseEvent(db) if GroupState.current.groups.exists(_.name.startsWith(s"$db.")) =>
        ControlPlane.call(session, "drop_database", "db" -> db)
      case _ =>
    } catch {
      case e: ColocateException => logWarning(s"The registry of groups does not follow $event: ${e.getMessage}")
    }

  private def bypassed(db: String, table: String)(work: MemberInfo => Unit): Unit =
    if (!CatalogWatch.isQuiet(db, table)) GroupState.current.memberByTable.get(db -> table).foreach(work)

  /** A native table whose property no longer matches its membership. */
  private def declared(db: String, name: String): Unit = if (!CatalogWatch.isQuiet(db, name)) {
    val table = catalog.getTable(db, name)
    val held = GroupState.current.memberByTable.get(db -> name)
    val wanted = GroupProperties.group(table.properties)
    val location = NativeTable.location(session, table)
    val differs =
      held.map(_.group) != wanted.map(GroupProperties.fullName(_, db)) || held.exists(_.location != location)
    if (NativeTable.isNative(table) && differs) {
      val facts = NativeTable.spec(session, table, table.schema, wanted.getOrElse("")).facts
      TwoPhase(session, "begin_alter", facts: _*)(())(location)
    }
  }

  private def tell(verb: String, db: String, table: String, more: (String, Any)*): Unit =
    TwoPhase(session, verb, Seq("db" -> db, "table" -> table) ++ more: _*)(())(None)

  private def session: SparkSession = SparkSession.getActiveSession.getOrElse(attached)
}

object CatalogWatch {

  private val watched = Collections.newSetFromMap(new ConcurrentHashMap[ExternalCatalog, java.lang.Boolean])
  private val quiet = ConcurrentHashMap.newKeySet[(String, String)]()

  /** Once per shared catalog. */
  def attach(session: SparkSession): Unit = {
    val catalog = session.sharedState.externalCatalog
    if (watched.add(catalog)) catalog.addListener(new CatalogWatch(catalog, session))
  }

  /** Ignores the events of these tables while one of our statements works on them. Returns those not ignored before. */
  def silence(names: Seq[(String, String)]): Seq[(String, String)] = names.filter(quiet.add)

  def listen(names: Seq[(String, String)]): Unit = names.foreach(quiet.remove)

  private def isQuiet(db: String, table: String): Boolean = quiet.contains(db -> table)
}
