package org.apache.spark.sql.colocate.write

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, Literal, Murmur3Hash, Pmod}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

object BucketedWrite {

  /** The bucket of a row, the same expression as the generated column's. */
  def bucketId(keys: Seq[Expression], buckets: Int): Expression = new Pmod(new Murmur3Hash(keys), Literal(buckets))

  def over(query: LogicalPlan, keys: Seq[Attribute], buckets: Int): LogicalPlan = query
}
