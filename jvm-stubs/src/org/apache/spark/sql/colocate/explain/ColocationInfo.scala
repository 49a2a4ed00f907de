package org.apache.spark.sql.colocate.explain

import org.apache.spark.sql.ExtendedExplainGenerator
import org.apache.spark.sql.execution.SparkPlan

/** The section that EXPLAIN appends: one line for each join, aggregate and window that touches a member. */
class ColocationInfo extends ExtendedExplainGenerator {

  override def title: String = "Colocation"

  override def generateExtendedInfo(plan: SparkPlan): String =
    Verdicts.of(plan).map(v => s"${v.operator}: ${v.text}").mkString("\n")
}
