package org.apache.spark.sql.colocate.rules.join

import org.apache.spark.sql.catalyst.plans.FullOuter
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.classic.{SparkSession, Strategy}
import org.apache.spark.sql.colocate.partitioning.FullOuterKeysExec
import org.apache.spark.sql.colocate.rules.{OtherStrategies, Rewrite, RuleTable}
import org.apache.spark.sql.colocate.scan.MemberScans
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.joins.ShuffledJoin

/**
 * Matches: a full outer join of a query that may read members.
 * Produces: the join below a [[FullOuterKeysExec]], so that an aggregate or a window by its key needs no shuffle.
 * Not when: no member is below, or Spark plans no shuffled join.
 */
case class PlanFullOuterJoins(session: SparkSession) extends Strategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case join: Join if join.joinType == FullOuter && RuleTable.isActive("PlanFullOuterJoins") =>
      Rewrite.strategy("PlanFullOuterJoins", session, this, join)(planned(join))
    case _ => Nil
  }

  private def planned(join: Join): Seq[SparkPlan] =
    if (!MemberScans.concernsPlan(session, join)) Nil
    else OtherStrategies.plan(session, this, join).map {
      case shuffled: ShuffledJoin => FullOuterKeysExec(shuffled)
      case other => other
    }
}
