package org.apache.spark.sql.colocate.write

import org.apache.spark.sql.catalyst.analysis.ResolvedIdentifier
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, V2CreateTablePlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.bridge.ControlPlane
import org.apache.spark.sql.colocate.catalog.{DelegatingCatalog, DeltaLayout, DeltaStatement}
import org.apache.spark.sql.connector.catalog.{CatalogV2Util, TableInfo}

/**
 * Matches: CREATE and REPLACE of a Delta table.
 * Produces: an error of ours if the table has no column of a bucket key's name, before Spark fails on the transform
 * with a less helpful one.
 * Not when: all bucket keys are columns: the plan stays as it is.
 */
case class CheckBucketKeys(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan.foreach {
      case create: V2CreateTablePlan if create.childrenResolved => check(create)
      case _ =>
    }
    plan
  }

  private def check(create: V2CreateTablePlan): Unit = create.name match {
    case ResolvedIdentifier(_: DelegatingCatalog, ident) =>
      val info = new TableInfo.Builder()
        .withColumns(CatalogV2Util.structTypeToV2Columns(create.tableSchema))
        .withPartitions(create.partitioning.toArray).build()
      val columns = create.tableSchema.fieldNames
      if (DeltaLayout.of(info, conf).exists(!_.keys.forall(columns.contains(_)))) {
        val facts = new DeltaStatement(session, ident, info).facts("", replace = false)
        ControlPlane.call(session, "check_layout", facts: _*)
      }
    case _ =>
  }
}
