package org.apache.spark.sql.colocate.scan

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.conf.Settings
import org.apache.spark.sql.colocate.evidence.TableEvidence
import org.apache.spark.sql.colocate.layout.BucketColumn
import org.apache.spark.sql.colocate.rules.{PlanWalk, RuleTable}
import org.apache.spark.sql.execution.columnar.{InMemoryRelation, InMemoryTableScanExec}
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.{FileSourceScanExec, SparkPlan}

/**
 * Which operators read a table of ours: a member, or a Delta table with buckets. All other tables have Spark's own
 * plan, also natively bucketed ones without a group.
 */
private[colocate] object MemberScans {

  /** Is this leaf the scan of one, by buckets or as an ordinary table? */
  def isOne(leaf: SparkPlan): Boolean = leaf match {
    case _: ColocatedScanExec => true
    case scan: FileSourceScanExec =>
      isClustered(scan.relation) || (scan.relation.bucketSpec.isDefined && isMember(scan))
    case _ => false
  }

  /** Does the plan read tables by buckets, or a cache of such a plan? */
  def readsBuckets(plan: SparkPlan): Boolean = PlanWalk.nodes(plan).exists {
    case _: ColocatedScanExec => true
    case cached: InMemoryTableScanExec => readsBuckets(cached.relation.cachedPlan)
    case _ => false
  }

  /** Are scans planned by buckets in this session? */
  def areActive(session: SparkSession): Boolean =
    RuleTable.isActive("PlanColocatedScans") && Settings.joinEnabled(session.sessionState.conf)

  /** May this plan have scans by bucket, or read a cached plan that has one? */
  def concernsPlan(session: SparkSession, plan: LogicalPlan): Boolean = plan.exists {
    case relation: LogicalRelation => TableEvidence.of(relation).exists(_.isRight)
    case cached: InMemoryRelation => readsBuckets(cached.cachedPlan)
    case _ => false
  } && areActive(session)

  private def isClustered(files: HadoopFsRelation): Boolean =
    files.partitionSchema.fieldNames.contains(BucketColumn.Name)

  /** A native table's group is in its catalog entry, which only the logical plan has. */
  private def isMember(scan: FileSourceScanExec): Boolean = scan.logicalLink.exists(_.exists {
    case relation: LogicalRelation => (relation.relation eq scan.relation) && TableEvidence.of(relation).isDefined
    case _ => false
  })
}
