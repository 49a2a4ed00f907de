package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.catalyst.expressions.{DirectShufflePartitionID, Expression}

/** For a shuffle: the row is in the task of its bucket's number. Spark has an expression for it since 4.1. */
object TaskOfBucket {
  def apply(bucket: Expression): Expression = DirectShufflePartitionID(bucket)

  def unapply(expression: Expression): Boolean = expression.isInstanceOf[DirectShufflePartitionID]
}
