package org.apache.spark.sql.colocate.evidence.delta

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteIfNeeded
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation, LogicalRelationWithTable}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

/** Names for messages. */
private[colocate] object TableNames {

  /** Of the table that a plan reads or changes. */
  def of(plan: LogicalPlan): String = plan.collectFirst {
    case relation: DataSourceV2Relation => relation.name.stripPrefix("spark_catalog.")
    case relation: LogicalRelation if relation.catalogTable.isDefined =>
      relation.catalogTable.get.identifier.copy(catalog = None).unquotedString
    case LogicalRelationWithTable(files: HadoopFsRelation, _) if DeltaIndexes.isDeltaIndex(files.location) =>
      s"delta.${quoteIfNeeded(DeltaIndexes.dataPath(files.location).toString)}"
  }.getOrElse("the table")
}
