package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{DescribeRelation, LogicalPlan}

/** DESCRIBE without a PARTITION clause: relation, EXTENDED, output. A clause has the node `DescribeTablePartition`. */
object DescribeWholeTable {
  def unapply(describe: DescribeRelation): Option[(LogicalPlan, Boolean, Seq[Attribute])] =
    DescribeRelation.unapply(describe)
}
