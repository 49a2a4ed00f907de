package org.apache.spark.sql.colocate.keys

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

/** Names for messages. */
private[keys] object TableNames {

  /** Of the table that a plan reads or changes. */
  def of(plan: LogicalPlan): String = plan.collectFirst {
    case relation: DataSourceV2Relation => relation.name.stripPrefix("spark_catalog.")
    case relation: LogicalRelation if relation.catalogTable.isDefined =>
      relation.catalogTable.get.identifier.copy(catalog = None).unquotedString
  }.getOrElse("the table")
}
