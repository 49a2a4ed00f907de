package org.apache.spark.sql.colocate.ops.system

import java.util.Locale

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.connector.catalog.{Identifier, Table}
import org.apache.spark.sql.types.StructType

/** The tables of namespace `system`, from any current database. */
object SystemTables {

  private val groups = StructType.fromDDL(
    "group_id STRING, group_name STRING, db STRING, buckets INT, replication INT, key_types ARRAY<STRING>, " +
      "layout_stable BOOLEAN, placement_stable BOOLEAN, is_stable BOOLEAN, members INT, bytes BIGINT, " +
      "recycled_until TIMESTAMP")

  private val tables = StructType.fromDDL(
    "`group` STRING, group_id STRING, db STRING, `table` STRING, table_id INT, format STRING, keys ARRAY<STRING>, " +
      "role STRING, layout_state STRING, is_stable BOOLEAN, strays INT, files BIGINT, bytes BIGINT, location STRING, " +
      "verified_at TIMESTAMP, verified_mode STRING")

  private val buckets = StructType.fromDDL(
    "`group` STRING, db STRING, `table` STRING, bucket INT, files BIGINT, `rows` BIGINT, bytes BIGINT, " +
      "hosts ARRAY<STRING>, state STRING, is_stable BOOLEAN, host_hit_rate DOUBLE")

  private val hosts = StructType.fromDDL("backend_id INT, host STRING, capacity DOUBLE, state STRING")

  private val jobs = StructType.fromDDL(
    "job_id INT, kind STRING, target STRING, group_name STRING, state STRING, requested STRING, who STRING, " +
      "owner STRING, steps INT, steps_done INT, buckets INT, buckets_done INT, bytes BIGINT, bytes_done BIGINT, " +
      "bytes_per_second BIGINT, eta_seconds BIGINT, attempts INT, error STRING, findings ARRAY<STRING>, " +
      "created_at TIMESTAMP, started_at TIMESTAMP, ended_at TIMESTAMP")

  private val audit = StructType.fromDDL("at TIMESTAMP, who STRING, verb STRING, object STRING, detail STRING")

  private type Lines = (SystemLines, Set[String]) => Seq[Map[String, Any]]

  private val known: Map[String, (StructType, Lines)] = Map(
    "colocation_groups" -> (groups -> ((lines, wanted) => lines.groups(groups, wanted))),
    "colocation_tables" -> (tables -> ((lines, wanted) => lines.tables(tables, wanted))),
    "colocation_buckets" -> (buckets -> ((lines, wanted) => lines.buckets(tables, wanted))),
    "colocation_hosts" -> (hosts -> ((lines, _) => lines.ofControlPlane("colocation_hosts", hosts))),
    "colocation_jobs" -> (jobs -> ((lines, _) => lines.ofControlPlane("colocation_jobs", jobs))),
    "colocation_audit" -> (audit -> ((lines, _) => lines.ofControlPlane("colocation_audit", audit))))

  /** `None` for a name that is not ours: the catalog goes on as without us. */
  def load(ident: Identifier): Option[Table] =
    known.get(ident.name().toLowerCase(Locale.ROOT)).map { case (schema, lines) =>
      new SystemTable(ident.name(), schema, lines(new SystemLines(SparkSession.active), _))
    }
}
