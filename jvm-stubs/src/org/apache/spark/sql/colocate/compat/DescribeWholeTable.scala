package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{DescribeRelation, LogicalPlan}

/**
 * DESCRIBE without a PARTITION clause: relation, EXTENDED, output. Spark 4.1's node has the clause as one more
 * argument, 4.2 has the node `DescribeTablePartition` for it.
 */
object DescribeWholeTable {
  def unapply(describe: DescribeRelation): Option[(LogicalPlan, Boolean, Seq[Attribute])] =
    DescribeRelation.unapply(describe)
}
