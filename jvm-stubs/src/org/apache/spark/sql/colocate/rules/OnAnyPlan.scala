package org.apache.spark.sql.colocate.rules

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.SparkPlan

/**
 * A preparation rule that also runs for plans without a scan by buckets: for writes, and when adaptive execution plans
 * again after the stages that contain the scans.
 */
trait OnAnyPlan { this: Rule[SparkPlan] =>

  /**
   * May the rule change an operator's partitioning? Then its result is checked by Spark's ValidateRequirements. False
   * for a rule that only changes how an Exchange sends its rows.
   */
  def changesLayout: Boolean
}
