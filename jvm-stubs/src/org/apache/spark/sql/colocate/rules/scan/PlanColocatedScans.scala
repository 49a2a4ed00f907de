package org.apache.spark.sql.colocate.rules.scan

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, PlanExpression}
import org.apache.spark.sql.catalyst.planning.ScanOperation
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.{SparkSession, Strategy}
import org.apache.spark.sql.colocate.evidence.TableEvidence
import org.apache.spark.sql.colocate.layout.{BucketSource, Evidence}
import org.apache.spark.sql.colocate.rules.{OtherStrategies, Rewrite}
import org.apache.spark.sql.colocate.scan.{
  ColocatedScanExec, LayoutDecision, MemberScans, Membership, MetadataFields, ReadMode
}
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.{FileSourceScanExec, SparkPlan}

/**
 * Matches: the scan of a table whose metadata proves the bucket of each file, except for few strays, whose rows the
 * scan shuffles.
 * Produces: a [[ColocatedScanExec]] with one task for each bucket. The strategy first lets the strategies of Spark and
 * Delta plan the table (Delta adds the filter of its deletion vectors), and then replaces the scan in their plan and
 * reads fields of `_metadata` directly. It must be asked before theirs, so this extension must be listed before
 * Delta's.
 * Not when: colocation is off, the group is marked as unstable, the layout is not proven, there are too many strays,
 * range partitions have numbers of buckets with too small a common divisor, or the query does not read all bucket keys.
 * If the layout of a native table is not proven, Spark's own bucketed scan is switched off as well, also where
 * colocation is off, because it could return wrong rows.
 */
case class PlanColocatedScans(session: SparkSession) extends Strategy {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case ScanOperation(_, _, _, relation: LogicalRelation) =>
      Rewrite.strategy("PlanColocatedScans", session, this, plan, withoutTrust(_, relation)) {
        if (concerns(relation)) planMember(plan, relation) else Nil
      }
    case _ => Nil
  }

  /**
   * If the rule fails, the strays of a native table are not known. Then Spark's bucketed scan, which trusts file names,
   * is switched off.
   */
  private def withoutTrust(planned: SparkPlan, relation: LogicalRelation): SparkPlan = planned.transformUp {
    case scan: FileSourceScanExec if namesGroup(relation) => PlanColocatedScans.unbucketed(scan)
  }

  private def namesGroup(relation: LogicalRelation): Boolean =
    relation.catalogTable.exists(table => table.bucketSpec.isDefined && table.properties.contains("colocate_with"))

  /** With colocation off only native tables: Spark's own bucketed scan would return wrong rows if they have strays. */
  private def concerns(relation: LogicalRelation): Boolean = relation.relation match {
    case files: HadoopFsRelation =>
      TableEvidence.of(relation).isDefined && (files.bucketSpec.isDefined || MemberScans.areActive(session))
    case _ => false
  }

  private def planMember(plan: LogicalPlan, relation: LogicalRelation): Seq[SparkPlan] = {
    val index = relation.relation.asInstanceOf[HadoopFsRelation].location
    OtherStrategies.plan(session, this, plan).map(_.transformUp {
      case scan: FileSourceScanExec if scan.relation.location eq index =>
        val static = PlanColocatedScans.static(scan)
        judge(relation, static).fold[SparkPlan](scan)(PlanColocatedScans.replaced(scan, static, _))
      case other => MetadataFields.read(other)
    })
  }

  private def judge(relation: LogicalRelation, scan: FileSourceScanExec): Option[LayoutDecision] =
    if (MemberScans.areActive(session)) Membership.judge(session, relation, scan)
    else Membership.strayOf(relation, scan).map(LayoutDecision.Refused(_, native = true))
}

object PlanColocatedScans {

  private def replaced(scan: FileSourceScanExec, static: FileSourceScanExec, judged: LayoutDecision): SparkPlan =
    judged match {
      case LayoutDecision.Proven(evidence) =>
        keysIn(scan, evidence).fold[SparkPlan](scan)(bucketed(scan, static, evidence, _))
      case LayoutDecision.Refused(_, native) => if (native) unbucketed(scan) else scan
    }

  private def bucketed(
      scan: FileSourceScanExec,
      static: FileSourceScanExec,
      evidence: Evidence,
      keys: Seq[Attribute]): ColocatedScanExec =
    ColocatedScanExec(
      static,
      evidence,
      keys,
      ReadMode.ByBucket(evidence.layout.buckets),
      scan.partitionFilters,
      scan.dataFilters)

  /** The scan that lists the files: once, as its listing is kept. */
  private def static(scan: FileSourceScanExec): FileSourceScanExec =
    scan.copy(partitionFilters = static(scan.partitionFilters), dataFilters = static(scan.dataFilters))

  /** Leaves out filters with a subquery: they can't be sent with the tasks before the subquery is planned. */
  private def static(filters: Seq[Expression]): Seq[Expression] =
    filters.filterNot(_.exists(_.isInstanceOf[PlanExpression[_]]))

  /** The scan without Spark's own bucketed reading and bucket pruning, which both trust file names. */
  private def unbucketed(scan: FileSourceScanExec): FileSourceScanExec =
    scan.copy(disableBucketedScan = true, optionalBucketSet = None)

  /** The bucket keys in the scan's output; without all of them the scan has no bucket partitioning. */
  private def keysIn(scan: FileSourceScanExec, evidence: Evidence): Option[Seq[Attribute]] = {
    val layout = evidence.layout
    val found = layout.keys.zip(layout.keyTypes).flatMap { case (key, keyType) =>
      scan.output.find(a => a.name == key && a.dataType == keyType)
    }
    val allowed = evidence.source != BucketSource.FileName || scan.bucketedScan
    Option.when(allowed && found.size == layout.keys.size)(found)
  }
}
