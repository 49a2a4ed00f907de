package org.apache.spark.sql.colocate.write

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.{DataFrame, Dataset, SparkSession}
import org.apache.spark.sql.execution.columnar.InMemoryRelation
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.storage.StorageLevel

/**
 * A query's rows, evaluated once and read several times. Spark's CacheManager is not asked to keep them: it knows plans,
 * not owners, so that what a user has cached would end with our use of it, and another thread's write to a table that
 * is read would have the rows evaluated again.
 */
class MaterializedQuery(session: SparkSession, query: LogicalPlan) {

  // As in CacheManager: rows that are kept shall keep the layout that they have.
  private val relation: InMemoryRelation = {
    val planner = SparkSession.getOrCloneSessionWithConfigsOff(session, Seq(SQLConf.AUTO_BUCKETED_SCAN_ENABLED))
    planner.withActive {
      val planned = planner.sessionState.executePlan(query)
      InMemoryRelation(StorageLevel.MEMORY_AND_DISK, planned, tableName = None).withOutput(query.output)
    }
  }

  def plan: LogicalPlan = relation

  def rows: DataFrame = Dataset.ofRows(session, relation)

  def release(): Unit = relation.cacheBuilder.clearCache()
}

object MaterializedQuery {

  /** How many rows there are; None before they were all read once. */
  def count(relation: InMemoryRelation): Option[Long] =
    if (relation.cacheBuilder.isCachedColumnBuffersLoaded) relation.computeStats().rowCount.map(_.toLong) else None
}
