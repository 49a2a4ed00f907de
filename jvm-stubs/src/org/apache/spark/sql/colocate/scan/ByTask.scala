package org.apache.spark.sql.colocate.scan

import org.apache.spark.sql.catalyst.plans.physical.{BroadcastDistribution, Distribution, UnspecifiedDistribution}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.joins.ShuffledJoin

/** An operator, other than joins and those with a required distribution, that may need each bucket in one task. */
trait UsesBuckets {
  def usesBuckets: Boolean
}

/** A write in which the number of a task is the bucket that it writes. */
trait TaskIsBucket { this: SparkPlan => }

/** Operators that rely on the tasks in which their rows are. */
private[colocate] object ByTask {

  /**
   * Does the operator rely on the tasks in which its rows are? It does if it requires a distribution, and if it is a
   * shuffled join, even one without a required distribution.
   */
  def meetsByTask(plan: SparkPlan): Boolean =
    plan.isInstanceOf[ShuffledJoin] || plan.requiredChildDistribution.exists(requires)

  def requires(distribution: Distribution): Boolean = distribution match {
    case UnspecifiedDistribution | _: BroadcastDistribution => false
    case _ => true
  }
}
