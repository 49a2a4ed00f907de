package org.apache.spark.sql.execution.joins.colocate

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.colocate.PassesRows

/** Keeps a side of a join out of the join's generated code: its rows come from separately generated code. */
case class JoinInputExec(child: SparkPlan) extends PassesRows {
  override protected def withNewChildInternal(newChild: SparkPlan): JoinInputExec = copy(child = newChild)
}
