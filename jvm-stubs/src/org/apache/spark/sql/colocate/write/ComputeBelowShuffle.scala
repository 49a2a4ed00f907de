package org.apache.spark.sql.colocate.write

import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule

/**
 * Delta adds the bucket's column, a Project, on top of a laid out query. It goes below the write node, so below its
 * Exchange, where it costs no copy of the row: above, it was a tenth of what a load adds to the scan and the encoding.
 *
 * A rule of the optimizer, not of the planner: adaptive execution finds a stage's node in the logical plan by identity,
 * and replans for ever what it can't find.
 */
object ComputeBelowShuffle extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!plan.exists(_.isInstanceOf[BucketedWrite])) plan
    else plan.transformUp {
      case project @ Project(columns, write: BucketedWrite) => write.over(columns).getOrElse(project)
    }
}
