package org.apache.spark.sql.colocate.phases

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.{SparkSession, Strategy}
import org.apache.spark.sql.colocate.conf.RuleEntry
import org.apache.spark.sql.colocate.parts.PartRules.Made
import org.apache.spark.sql.colocate.parts.{Part, PartRules}
import org.apache.spark.sql.colocate.rules.{ColumnarRules, RuleTable}
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}

/** The code of each rule that conf/rules.json names. That file also gives the order of the rules in a phase. */
object Rules {

  private val sets: Seq[PartRules] = CoreRules.all +: Part.all.map(_.rules)

  val hint: Seq[Made[Rule[LogicalPlan]]] = made("hint")(_.hint)
  val resolution: Seq[Made[Rule[LogicalPlan]]] = made("resolution")(_.resolution)
  val postHoc: Seq[Made[Rule[LogicalPlan]]] = made("post-hoc")(_.postHoc)
  val normalization: Seq[Made[Rule[LogicalPlan]]] = made("normalization")(_.normalization)
  val check: Seq[Made[LogicalPlan => Unit]] = made("check")(_.check)
  val optimizer: Seq[Made[Rule[LogicalPlan]]] = made("optimizer")(_.optimizer)
  val strategy: Seq[Made[Strategy]] = made("strategy")(_.strategy)

  /** For OptimizeColocatedPlan, which runs them one after the other, each through Rewrite. */
  def preparation(session: SparkSession): Seq[(RuleEntry, Rule[SparkPlan])] =
    inOrder("preparation")(_.preparation).map { case (entry, make) => entry -> make(session) }

  /** For a query stage of adaptive execution that is about to run; the stages below it have ended. */
  val stage: Seq[Made[Rule[SparkPlan]]] = made("stage")(_.stage)

  /** The last rules on every plan, after Spark has inserted the columnar transitions. */
  val columnar: Seq[ColumnarRule] = ColumnarRules.keep(made("columnar")(_.columnar))

  private def made[A](phase: String)(of: PartRules => Seq[(String, A)]): Seq[A] = inOrder(phase)(of).map(_._2)

  private def inOrder[A](phase: String)(of: PartRules => Seq[(String, A)]): Seq[(RuleEntry, A)] =
    RuleTable.inOrder(phase, sets.flatMap(of): _*)
}
