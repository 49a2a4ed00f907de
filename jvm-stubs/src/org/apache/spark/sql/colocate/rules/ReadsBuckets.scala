package org.apache.spark.sql.colocate.rules

import org.apache.spark.sql.execution.SparkPlan

/** A scan by buckets. */
trait ReadsBuckets { this: SparkPlan =>

  /** The same rows, from tasks that follow no layout. */
  def asWithoutLayout: SparkPlan
}
