package org.apache.spark.sql.colocate.scan

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.bridge.{ControlPlane, GroupState}
import org.apache.spark.sql.colocate.conf.Settings
import org.apache.spark.sql.colocate.evidence.TableEvidence
import org.apache.spark.sql.colocate.layout.{Evidence, EvidenceGap}
import org.apache.spark.sql.execution.FileSourceScanLike
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}

/** What the planner may do with the scan of a table that has a layout. */
sealed trait LayoutDecision

object LayoutDecision {
  case class Proven(evidence: Evidence) extends LayoutDecision

  /** `native`: the bucketed scan that stock Spark would choose by itself must be switched off as well. */
  case class Refused(gap: EvidenceGap, native: Boolean) extends LayoutDecision
}

object Membership {

  /** Evidence of the scanned snapshot first; then the group's flags, which can only forbid. */
  def judge(session: SparkSession, relation: LogicalRelation): Option[LayoutDecision] =
    TableEvidence.of(relation).map { found =>
      val native = relation.relation.asInstanceOf[HadoopFsRelation].bucketSpec.isDefined
      if (found.exists(_.group.isDefined)) ControlPlane.ensureAttached(session)
      found
        .flatMap(evidence => evidence.group.flatMap(unstable(session, _)).toLeft(evidence))
        .fold(LayoutDecision.Refused(_, native), LayoutDecision.Proven(_))
    }

  /**
   * A stray for which the scan of a native table may not trust file names even with colocation off: stock Spark would
   * read it as a bucket and lose rows.
   */
  def strayOf(relation: LogicalRelation, scan: FileSourceScanLike): Option[EvidenceGap] =
    TableEvidence.of(relation).flatMap(_.toOption).flatMap { evidence =>
      Some(Strays.of(scan, evidence)).filter(_.nonEmpty).map(_.gap(evidence))
    }

  /** The same about the files that a scan selects: a table that is mostly strays is read as if it had no layout. */
  def judge(session: SparkSession, relation: LogicalRelation, scan: FileSourceScanLike): Option[LayoutDecision] =
    judge(session, relation).map {
      case LayoutDecision.Proven(evidence) if evidence.layout.partitions.isDefined =>
        RangesRead.judge(session, scan, evidence)
      case LayoutDecision.Proven(evidence) =>
        val strays = Strays.of(scan, evidence)
        if (strays.tooMany(session)) LayoutDecision.Refused(strays.gap(evidence), native = true)
        else LayoutDecision.Proven(evidence)
      case refused => refused
    }

  private def unstable(session: SparkSession, name: String): Option[EvidenceGap] =
    GroupState.current.byName.get(name).flatMap { group =>
      val strict = Settings.get(session.sessionState.conf, "spark.colocate.unstable.fallback") == "strict"
      Option.when(!group.stable || (strict && !group.placementStable))(
        EvidenceGap.of("GROUP_NOT_STABLE", "group" -> name))
    }
}
