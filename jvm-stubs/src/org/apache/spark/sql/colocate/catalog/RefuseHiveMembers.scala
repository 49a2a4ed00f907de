package org.apache.spark.sql.colocate.catalog

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.bridge.ControlPlane
import org.apache.spark.sql.execution.command.DDLUtils
import org.apache.spark.sql.execution.datasources.CreateTable

/**
 * Matches: CREATE of a Hive table (`STORED AS PARQUET`) with a group.
 * Produces: an error. Hive hashes and names buckets in its own way, so such a table can't be a member. This comes
 * before Spark turns the statement into one of its several Hive commands.
 * Not when: the statement names no group.
 */
case class RefuseHiveMembers(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case CreateTable(table, _, query) if DDLUtils.isHiveTable(table) && NativeTable.namesGroup(table) =>
      val schema = query.filter(_.resolved).map(_.schema).getOrElse(table.schema)
      val group = GroupProperties.group(table.properties ++ table.storage.properties).getOrElse("")
      ControlPlane.call(session, "check_layout", NativeTable.spec(session, table, schema, group).facts: _*)
      plan
    case _ => plan
  }
}
