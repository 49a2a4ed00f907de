package org.apache.spark.sql.colocate.catalog.describe

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, CatalogTableType}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.declared.{ColumnSpec, GroupProperties, NativeTable, TableSpec}
import org.apache.spark.sql.colocate.evidence.delta.DeltaTables
import org.apache.spark.sql.connector.catalog.{Identifier, Table, TableCatalog}

/**
 * A table that has buckets or names a group.
 *
 * @param spec  its columns are only those that the control plane needs
 * @param delta the loaded table, if it is Delta's
 */
case class BucketedTable(spec: TableSpec, entry: CatalogTable, delta: Option[Table])

/**
 * The tables of a database with the group that each one names in its own metadata, which decides about membership. A
 * native table's properties are in the catalog, a Delta table's in its own log, so each Delta table is loaded once.
 *
 * @param only the tables to look at; None: all. Those that are not there are left out.
 */
class DeclaredTables(session: SparkSession, val db: String, only: Option[Set[String]] = None) extends Logging {

  private type Facts = Map[String, Any]

  /** Those that have buckets or name a group, and the names of those that could not be read, with `why`. */
  lazy val (bucketed, unread): (Seq[BucketedTable], Seq[Facts]) = {
    val read = tables.map(table => name(table) -> declared(table))
    (read.collect { case (_, Right(Some(found))) => found },
      read.collect { case (name, Left(why)) => name + ("why" -> why) })
  }

  /** Facts of the tables that name a group. */
  def members: Seq[Facts] = bucketed.map(_.spec).filter(_.group.nonEmpty).map(_.facts.toMap)

  private def tables: Seq[CatalogTable] = {
    val catalog = session.sharedState.externalCatalog
    val names = only.fold(catalog.listTables(db))(_.toSeq.filter(catalog.tableExists(db, _)))
    catalog.getTablesByName(db, names).filter(_.tableType != CatalogTableType.VIEW)
  }

  private def name(table: CatalogTable): Facts = TableSpec.named(identifier(table)).toMap

  private def identifier(table: CatalogTable) = TableIdentifier(table.identifier.table, Some(db))

  /** Left: the table is there, but it can't be read; then nothing is known about it. */
  private def declared(table: CatalogTable): Either[String, Option[BucketedTable]] =
    try Right((if (NativeTable.isNative(table)) native(table) else delta(table)).filter(hasLayout))
    catch {
      case NonFatal(e) =>
        logWarning(s"${table.identifier.unquotedString} is passed over, because it can't be read", e)
        Left(Unreadable.why(e))
    }

  private def hasLayout(table: BucketedTable): Boolean = table.spec.buckets > 0 || table.spec.group.nonEmpty

  private def native(table: CatalogTable): Option[BucketedTable] = {
    val group = GroupProperties.group(table.properties).getOrElse("")
    Some(BucketedTable(NativeTable.spec(session, table, table.schema, group), table, None))
  }

  private def delta(table: CatalogTable): Option[BucketedTable] =
    Option.when(table.provider.exists(_.equalsIgnoreCase("delta"))) {
      val loaded = DeltaTables.load(session, Identifier.of(Array(db), table.identifier.table))
      BucketedTable(described(identifier(table), loaded), table, Some(loaded))
    }

  /** The table; of its columns only the keys, with the types by which they were hashed. */
  private def described(name: TableIdentifier, table: Table): TableSpec = {
    val layout = DeltaTables.layoutOf(session, table)
    val properties = table.properties().asScala.toMap
    val keys = layout.toSeq.flatMap(l => l.keys.zip(l.keyTypes))
    TableSpec.ofDelta(name, table, layout, properties, properties.get(TableCatalog.PROP_LOCATION))
      .copy(columns = keys.map { case (key, keyType) => ColumnSpec(key, keyType.simpleString) })
  }
}
