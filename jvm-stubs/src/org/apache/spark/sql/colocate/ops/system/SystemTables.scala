package org.apache.spark.sql.colocate.ops.system

import org.apache.spark.sql.colocate.system.SystemView
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

  val all: Seq[SystemView] = Seq(
    view("colocation_groups", groups)((lines, wanted) => lines.groups(groups, wanted)),
    view("colocation_tables", tables)((lines, wanted) => lines.tables(tables, wanted)),
    view("colocation_buckets", buckets)((lines, wanted) => lines.buckets(tables, wanted)),
    view("colocation_hosts", hosts)((lines, _) => lines.ofControlPlane("colocation_hosts", hosts)),
    view("colocation_jobs", jobs)((lines, _) => lines.ofControlPlane("colocation_jobs", jobs)),
    view("colocation_audit", audit)((lines, _) => lines.ofControlPlane("colocation_audit", audit)))

  private def view(name: String, schema: StructType)(lines: Lines): SystemView =
    SystemView(name, schema, (session, wanted) => lines(new SystemLines(session), wanted))
}
