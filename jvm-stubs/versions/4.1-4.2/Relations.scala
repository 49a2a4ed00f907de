package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.catalyst.analysis.RelationResolution
import org.apache.spark.sql.classic.SparkSession

/** The analyzer's lookup of tables, which shares a cache of relations since Spark 4.1. */
object Relations {
  def of(session: SparkSession): RelationResolution =
    new RelationResolution(session.sessionState.catalogManager, session.sharedState.relationCache)
}
