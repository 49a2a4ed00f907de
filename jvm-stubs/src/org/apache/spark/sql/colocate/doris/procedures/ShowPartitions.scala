package org.apache.spark.sql.colocate.doris.procedures

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.colocate.compat.delta.DeltaSnapshot
import org.apache.spark.sql.colocate.evidence.delta.{DeltaIndexes, DeltaTables}
import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.conf.Settings
import org.apache.spark.sql.colocate.declared.{GroupProperties, RangeEntry, RangeProperties}
import org.apache.spark.sql.colocate.layout.RangeColumn
import org.apache.spark.sql.colocate.system.SystemProcedure
import org.apache.spark.sql.connector.catalog.procedures.ProcedureParameter
import org.apache.spark.sql.functions.{col, count, element_at, get_json_object, lit, sum}
import org.apache.spark.sql.types.StringType

/**
 * The range partitions of a Delta table in Doris' columns, with files, rows and bytes from Delta's log. A table that
 * declares none has one, which is named as the table and has all rows.
 */
object ShowPartitions extends SystemProcedure(
      "show_partitions",
      "Lists the range partitions of a Delta table, with files, rows and bytes.",
      "PartitionId INT, PartitionName STRING, VisibleVersion BIGINT, State STRING, PartitionKey STRING, " +
        "`Range` STRING, DistributionKey STRING, Buckets INT, ReplicationNum INT, Files BIGINT, `RowCount` BIGINT, " +
        "DataSize BIGINT") {

  /** `rows` is None where a file has no statistics. */
  private case class Held(files: Long, rows: Option[Long], bytes: Long)

  override def parameters(): Array[ProcedureParameter] = Array(required("table", StringType))

  override protected def run(session: SparkSession, input: InternalRow): Seq[Row] =
    of(session, NamedTable.load(session, input.getString(0)))

  private[procedures] def of(session: SparkSession, named: NamedTable): Seq[Row] = {
    val snapshot = DeltaIndexes.snapshotOfTable(named.table)
    val layout = DeltaTables.layoutOf(session, named.table)
    val properties = named.table.properties().asScala.toMap
    val ranged = DeltaTables.rangesOf(named.table).isDefined
    val partitions =
      if (ranged) RangeProperties.entries(properties)
      else Seq(RangeEntry(named.ident.name(), Seq("MINVALUE"), Seq("MAXVALUE"), None))
    val held = files(snapshot, if (ranged) None else Some(named.ident.name()))
    val replication = GroupProperties.replication(properties).flatMap(_.toIntOption)
      .getOrElse(Settings.number(session.sessionState.conf, "spark.colocate.replication").toInt)
    partitions.zipWithIndex.map { case (partition, i) =>
      val found = held.getOrElse(partition.name, Held(0, Some(0), 0))
      Row(
        i + 1, partition.name, snapshot.version, "NORMAL",
        if (ranged) RangeProperties.columns(properties).mkString(", ") else null, partition.range,
        layout.map(_.keys.mkString(", ")).orNull,
        layout.map(l => Int.box(partition.buckets.getOrElse(l.declared))).orNull, replication,
        found.files, found.rows.map(Long.box).orNull, found.bytes)
    }
  }

  /** @param all the name under which all files count; None where each counts for its own partition */
  private def files(snapshot: DeltaSnapshot, all: Option[String]): Map[String, Held] = {
    val partition = all.fold(element_at(col("partitionValues"), lit(snapshot.physicalName(RangeColumn.Name))))(lit(_))
    val counted = get_json_object(col("stats"), "$.numRecords").cast("long")
    val deleted = col("deletionVector.cardinality").cast("long")
    DeltaIndexes.allFilesOf(snapshot)
      .groupBy(partition)
      .agg(count(lit(1)), sum("size"), sum(counted), count(counted), sum(deleted))
      .collect().filterNot(_.isNullAt(0)).map { row =>
        val gone = if (row.isNullAt(5)) 0L else row.getLong(5)
        val rows = Option.when(row.getLong(4) == row.getLong(1))(row.getLong(3) - gone)
        row.getString(0) -> Held(row.getLong(1), rows, row.getLong(2))
      }.toMap
  }
}
