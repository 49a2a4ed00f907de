package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.execution.SparkPlan

/** Makes RDDs as Spark's Exchange does: in no scope of its own before Spark 4.2. */
object OperatorScope {
  def within[T](operator: SparkPlan)(make: => T): T = make
}
