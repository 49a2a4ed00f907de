package org.apache.spark.sql.colocate.write.target

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.{DataFrame, Dataset, SparkSession}
import org.apache.spark.sql.execution.columnar.InMemoryRelation
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.storage.StorageLevel

/**
 * The rows of a query, computed once and read several times. Spark's CacheManager is not used: it finds entries by
 * their plan, so releasing ours would also release what the user has cached; and a write of another thread to a table
 * that the query reads would compute the rows again.
 */
class MaterializedQuery(session: SparkSession, query: LogicalPlan) {

  // As in CacheManager: cached rows keep their partitioning.
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
