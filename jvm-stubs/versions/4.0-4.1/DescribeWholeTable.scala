package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{DescribeRelation, LogicalPlan}

/** DESCRIBE without a PARTITION clause: relation, EXTENDED, output. The clause is in the same node, till Spark 4.2. */
object DescribeWholeTable {
  def unapply(describe: DescribeRelation): Option[(LogicalPlan, Boolean, Seq[Attribute])] =
    Option.when(describe.partitionSpec.isEmpty)((describe.relation, describe.isExtended, describe.output))
}
