package org.apache.spark.sql.colocate.explain

import org.apache.spark.sql.ExtendedExplainGenerator
import org.apache.spark.sql.execution.SparkPlan

/**
 * The section that EXPLAIN appends: one line for each join, aggregate and window that touches a member, and one for
 * each rule that failed and is not named yet.
 */
class ColocationInfo extends ExtendedExplainGenerator {

  override def title: String = "Colocation"

  override def generateExtendedInfo(plan: SparkPlan): String =
    NotWorkedOut.orElse(reason => s"Query: colocate: not worked out, ${reason.detail}")(lines(plan).mkString("\n"))

  private def lines(plan: SparkPlan): Seq[String] = {
    val shown = new ExplainedPlan(plan)
    val verdicts = Verdicts.of(shown).map(v => s"${v.operator}: ${v.text}")
    val failures = shown.failed.map(rule => rule -> ExplainedPlan.failure(rule).detail).collect {
      case (rule, detail) if !verdicts.exists(_.endsWith(detail)) => s"Rule $rule: $detail"
    }
    verdicts ++ failures
  }
}
