package org.apache.spark.sql.colocate.doris.procedures

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, CatalogTableType}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.conf.Settings
import org.apache.spark.sql.colocate.declared.GroupProperties
import org.apache.spark.sql.colocate.system.SystemProcedure
import org.apache.spark.sql.connector.catalog.procedures.ProcedureParameter
import org.apache.spark.sql.execution.command.CommandUtils
import org.apache.spark.sql.types.StringType

/** Doris' SHOW DATA: of one table, or of all tables of a database. */
object ShowData extends SystemProcedure(
      "show_data",
      "Lists a table, or the tables of a database, with their bytes and the number of replicas of their tablets: the " +
        "buckets of all partitions on all their hosts.",
      "TableName STRING, Size BIGINT, ReplicaCount BIGINT") {

  override def parameters(): Array[ProcedureParameter] = Array(optional("table", StringType, "NULL"))

  override protected def run(session: SparkSession, input: InternalRow): Seq[Row] = {
    val catalog = session.sessionState.catalog
    val parser = session.sessionState.sqlParser
    val named = Option.when(!input.isNullAt(0))(parser.parseTableIdentifier(input.getString(0)))
    named match {
      case Some(table) if !isDatabase(session, table) => Seq(shown(session, catalog.getTableMetadata(table)))
      case _ => all(session, named.fold(catalog.getCurrentDatabase)(_.table))
    }
  }

  private def isDatabase(session: SparkSession, name: TableIdentifier): Boolean = {
    val catalog = session.sessionState.catalog
    name.database.isEmpty && !catalog.tableExists(name) && catalog.databaseExists(name.table)
  }

  private def all(session: SparkSession, db: String): Seq[Row] = {
    val catalog = session.sessionState.catalog
    val names = catalog.listTables(db, "*", includeLocalTempViews = false).sortBy(_.table)
    names.map(catalog.getTableMetadata).filter(_.tableType != CatalogTableType.VIEW).map(shown(session, _))
  }

  private def shown(session: SparkSession, table: CatalogTable): Row =
    if (table.provider.exists(_.equalsIgnoreCase("delta"))) ofDelta(session, table.identifier)
    else {
      val buckets = table.bucketSpec.fold(1)(_.numBuckets)
      val replication = GroupProperties.replication(table.properties).flatMap(_.toIntOption)
        .getOrElse(Settings.number(session.sessionState.conf, "spark.colocate.replication").toInt)
      val bytes = CommandUtils.calculateTotalSize(session, table)._1.toLong
      Row(table.identifier.table, bytes, buckets.toLong * replication)
    }

  private def ofDelta(session: SparkSession, table: TableIdentifier): Row = {
    val partitions = ShowPartitions.of(session, NamedTable.load(session, table.quotedString))
    val replicas = partitions.map(row => Option(row.getAs[Integer](7)).fold(1L)(_.toLong) * row.getInt(8))
    Row(table.table, partitions.map(_.getLong(11)).sum, replicas.sum)
  }
}
