package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.DataSource
import org.apache.spark.sql.execution.streaming.StreamingRelation

/** The source of a stream that reads through V1. The relation is in another package before Spark 4.1. */
object StreamedSource {
  def unapply(plan: LogicalPlan): Option[DataSource] = plan match {
    case relation: StreamingRelation => Some(relation.dataSource)
    case _ => None
  }
}
