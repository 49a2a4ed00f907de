package org.apache.spark.sql.colocate.write.merge

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.physical.{Partitioning, SinglePartition}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

/**
 * All rows in one task, by way of the driver: for a handful of rows, such as one per task, which a shuffle would write
 * to disk and fetch again.
 */
case class GatherOnDriverExec(child: SparkPlan) extends UnaryExecNode {

  override def output: Seq[Attribute] = child.output

  override def outputPartitioning: Partitioning = SinglePartition

  @transient private lazy val rows: Array[InternalRow] = child.executeCollect()

  override protected def doExecute(): RDD[InternalRow] = sparkContext.parallelize(rows.toSeq, 1)

  override protected def withNewChildInternal(newChild: SparkPlan): GatherOnDriverExec = copy(child = newChild)
}
