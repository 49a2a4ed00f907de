package org.apache.spark.sql.colocate.compat

import org.apache.spark.rdd.RDDOperationScope
import org.apache.spark.sql.execution.SparkPlan

/** Makes RDDs in the scope of an operator, as Spark's Exchange does since 4.2. */
object OperatorScope {
  def within[T](operator: SparkPlan)(make: => T): T = {
    val context = operator.session.sparkContext
    RDDOperationScope.withScope(context, operator.nodeName, false, true, operator.rddScopeId)(make)
  }
}
