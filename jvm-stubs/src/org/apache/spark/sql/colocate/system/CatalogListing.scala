package org.apache.spark.sql.colocate.system

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.bridge.{ControlPlane, GroupState}
import org.apache.spark.sql.colocate.catalog.describe.DeclaredTables

/**
 * The tables of the catalog, to be compared with the groups.
 *
 * @param database the only one that was listed, spelled as the catalog has it; None for all
 * @param version  of the groups before the listing began: a table that joins meanwhile is not in the list, and must
 *                 stay
 */
private[colocate] case class CatalogListing(database: Option[String], version: Long, declared: Seq[DeclaredTables])

private[colocate] object CatalogListing {

  /** @param db one database; all, if it is empty */
  def of(session: SparkSession, db: String): CatalogListing = {
    ControlPlane.call(session, "table_rows") // For the newest version.
    val version = GroupState.current.version
    val database = Option.when(db.nonEmpty)(session.sessionState.catalog.getDatabaseMetadata(db).name)
    val listed = database.fold(session.sharedState.externalCatalog.listDatabases())(Seq(_))
    CatalogListing(database, version, listed.map(new DeclaredTables(session, _)))
  }
}
