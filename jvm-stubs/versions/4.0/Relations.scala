package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.catalyst.analysis.RelationResolution
import org.apache.spark.sql.classic.SparkSession

/** The analyzer's lookup of tables, without the cache of relations that 4.1 has. */
object Relations {
  def of(session: SparkSession): RelationResolution =
    new RelationResolution(session.sessionState.catalogManager)
}
