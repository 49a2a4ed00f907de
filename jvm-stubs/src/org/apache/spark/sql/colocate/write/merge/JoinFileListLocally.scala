package org.apache.spark.sql.colocate.write.merge

import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.classic.{SparkSession, Strategy}
import org.apache.spark.sql.colocate.conf.Settings
import org.apache.spark.sql.colocate.evidence.delta.DeltaIndexes
import org.apache.spark.sql.colocate.evidence.TableEvidence
import org.apache.spark.sql.colocate.rules.{OtherStrategies, Rewrite, RuleTable}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}

/**
 * Matches: Delta's join of the rows that a deletion vector marks with its list of files, by which it learns each file's
 * present vector.
 * Produces: the same join with the list broadcast, whatever `autoBroadcastJoinThreshold` says: it comes from the driver
 * with the plan. Else every marked row would be shuffled by its file's path.
 * Not when: the rows are not those of a member.
 */
case class JoinFileListLocally(session: SparkSession) extends Strategy {

  private val FileList = Seq("dvFilePath", "deletionVectorId")

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case join @ Join(_, files: LocalRelation, LeftOuter, _, JoinHint.NONE)
        if isActive && files.output.map(_.name) == FileList =>
      Rewrite.strategy("JoinFileListLocally", session, this, join)(planned(join))
    case _ => Nil
  }

  private def planned(join: Join): Seq[SparkPlan] =
    if (!readsMember(join.left)) Nil
    else {
      val broadcast = JoinHint(None, Some(HintInfo(strategy = Some(BROADCAST))))
      OtherStrategies.plan(session, this, join.copy(hint = broadcast))
    }

  private def isActive: Boolean =
    RuleTable.isActive("JoinFileListLocally") && Settings.joinEnabled(session.sessionState.conf)

  private def readsMember(plan: LogicalPlan): Boolean = plan.exists {
    case relation @ LogicalRelation(files: HadoopFsRelation, _, _, _, _) =>
      DeltaIndexes.isDeltaIndex(files.location) && DeltaIndexes.isOfTransaction(files.location) &&
        TableEvidence.of(relation).exists(_.isRight)
    case _ => false
  }
}
