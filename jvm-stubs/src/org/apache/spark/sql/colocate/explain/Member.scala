package org.apache.spark.sql.colocate.explain

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.conf.Settings
import org.apache.spark.sql.colocate.evidence.TableEvidence
import org.apache.spark.sql.colocate.layout.{BucketLayout, Evidence, EvidenceGap}
import org.apache.spark.sql.colocate.rules.FailedRules
import org.apache.spark.sql.colocate.scan.{ColocatedScanExec, LayoutDecision, Membership}
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.{FileSourceScanExec, SparkPlan}

/** The scan of a table with a layout, as it stands in a finished physical plan. */
case class Member(
    output: Seq[Attribute],
    table: String,
    evidence: Option[Evidence],
    gap: Option[EvidenceGap],
    strays: Int = 0,
    namesTrusted: Boolean = false) {

  def layout: Option[BucketLayout] = evidence.map(_.layout)

  def group: Option[String] = evidence.flatMap(_.group)

  /** The bucket keys as the scan gives them; fewer when the query does not read them all. */
  def keys: Seq[Attribute] = layout.toSeq.flatMap(_.keys).flatMap(k => output.find(_.name == k))

  def describe: String = layout.fold(table) { l =>
    val keys = l.keys.zip(l.keyTypes).map { case (k, t) => s"$k ${t.simpleString}" }
    s"$table (${keys.mkString(", ")}) into ${l.numbers} buckets"
  }
}

object Member {

  def of(leaf: SparkPlan): Option[Member] = leaf match {
    case scan: ColocatedScanExec =>
      Some(Member(scan.output, scan.evidence.table, Some(scan.evidence), None, scan.strays.count, scan.trustsNames))
    case scan: FileSourceScanExec => ofOrdinary(scan)
    case _ => None
  }

  private def ofOrdinary(scan: FileSourceScanExec): Option[Member] = {
    val session = SparkSession.active
    val table = scan.tableIdentifier.map(_.copy(catalog = None).unquotedString)
      .getOrElse(scan.relation.location.rootPaths.mkString)
    FailedRules.unbucketedBy(scan).map(failed(scan, table, _))
      .orElse(relationOf(scan).flatMap(TableEvidence.of(_)).map { found =>
      val refused =
        relationOf(scan).flatMap(Membership.judge(session, _, scan)).collect { case LayoutDecision.Refused(g, _) => g }
      val disabled = Option.when(!Settings.joinEnabled(session.sessionState.conf))(EvidenceGap.of("SESSION_DISABLED"))
      Member(scan.output, found.fold(_ => table, _.table), found.toOption, disabled.orElse(refused))
    })
  }

  /** The cause of the rule's failure may fail here again, so nothing more is looked up for the table. */
  private def failed(scan: FileSourceScanExec, table: String, rule: String): Member = {
    val failure = ExplainedPlan.failure(rule)
    Member(scan.output, table, None, Some(EvidenceGap.of(failure.code, failure.args.toSeq: _*)))
  }

  /** The logical relation that a scan was planned from. */
  private def relationOf(scan: FileSourceScanExec): Option[LogicalRelation] =
    scan.logicalLink.toSeq.flatMap(_.collectLeaves()).collectFirst {
      case relation @ LogicalRelation(files: HadoopFsRelation, _, _, _, _)
          if files.location eq scan.relation.location =>
        relation
    }
}
