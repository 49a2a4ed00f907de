package org.apache.spark.sql.colocate.catalog

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.bridge.ControlPlane
import org.apache.spark.sql.execution.command.DDLUtils
import org.apache.spark.sql.execution.datasources.CreateTable

/**
 * A Hive table (`STORED AS PARQUET`) hashes and names its buckets as Hive does, so it can't be a member. It is refused
 * before Spark makes one of its several Hive commands of the statement.
 */
case class RefuseHiveMembers(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case CreateTable(table, _, query) if DDLUtils.isHiveTable(table) && NativeTable.asksForGroup(table) =>
      val schema = query.filter(_.resolved).map(_.schema).getOrElse(table.schema)
      val group = GroupProperties.group(table.properties ++ table.storage.properties).getOrElse("")
      ControlPlane.call(session, "check_layout", NativeTable.spec(session, table, schema, group).facts: _*)
      plan
    case _ => plan
  }
}
