package org.apache.spark.sql.colocate.compat

import org.apache.spark.rdd.RDDOperationScope
import org.apache.spark.sql.execution.SparkPlan

/**
 * Makes RDDs in the scope of an operator, as Spark's Exchange does. Spark 4.1's makes no scope, and no operator has an
 * id for one.
 */
object OperatorScope {
  def within[T](operator: SparkPlan)(make: => T): T = {
    val context = operator.session.sparkContext
    RDDOperationScope.withScope(context, operator.nodeName, false, true, operator.rddScopeId)(make)
  }
}
