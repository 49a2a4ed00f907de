package org.apache.spark.sql.colocate.catalog

import org.apache.spark.sql.catalyst.analysis.ResolvedIdentifier
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, V2CreateTablePlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.bridge.ControlPlane
import org.apache.spark.sql.colocate.compat.TableInfos
import org.apache.spark.sql.colocate.declared.{DeltaLayout, GroupProperties, NativeTable}
import org.apache.spark.sql.connector.catalog.CatalogV2Util
import org.apache.spark.sql.execution.command.DDLUtils
import org.apache.spark.sql.execution.datasources.CreateTable

/**
 * Matches: CREATE and REPLACE of a Delta table without a column of a bucket key's name, and CREATE of a Hive table
 * (`STORED AS PARQUET`) with a group. Hive hashes and names buckets in its own way, so such a table can't be a member.
 * Produces: an error of ours, before Spark fails on the transform with a less helpful one, or turns the statement into
 * one of its several Hive commands.
 * Not when: all bucket keys are columns, or the Hive table names no group: the plan stays as it is.
 */
case class CheckCreate(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan match {
      case CreateTable(table, _, query) if DDLUtils.isHiveTable(table) && NativeTable.namesGroup(table) =>
        val schema = query.filter(_.resolved).map(_.schema).getOrElse(table.schema)
        val group = GroupProperties.group(table.properties ++ table.storage.properties).getOrElse("")
        check(NativeTable.spec(session, table, schema, group).facts)
      case _ => plan.foreach {
          case create: V2CreateTablePlan if create.childrenResolved => checkKeys(create)
          case _ =>
        }
    }
    plan
  }

  private def checkKeys(create: V2CreateTablePlan): Unit = create.name match {
    case ResolvedIdentifier(_: DelegatingCatalog, ident) =>
      val typed = CatalogV2Util.structTypeToV2Columns(create.tableSchema)
      val info = TableInfos.of(typed, create.partitioning.toArray, java.util.Map.of())
      val columns = create.tableSchema.fieldNames
      if (DeltaLayout.of(info, conf).exists(!_.keys.forall(columns.contains(_))))
        check(new DeltaStatement(session, ident, info).facts("", replace = false))
    case _ =>
  }

  private def check(facts: Seq[(String, Any)]): Unit = ControlPlane.call(session, "check_layout", facts: _*)
}
