package org.apache.spark.sql.colocate.trust

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/**
 * What the tasks of one statement found out of files is saved beside it. The next one, which may replace or drop the
 * table, begins when that is done.
 */
object SettleManifests extends (LogicalPlan => Unit) {
  override def apply(plan: LogicalPlan): Unit = Manifest.settle()
}
