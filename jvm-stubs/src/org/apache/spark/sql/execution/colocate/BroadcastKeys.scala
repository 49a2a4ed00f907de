package org.apache.spark.sql.execution.colocate

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.joins.{HashedRelation, HashJoin, LongHashedRelation}

/** The keys of a broadcast build side. In this package, because only it has access to them. */
case class BroadcastKeys(side: SparkPlan, keys: Seq[Expression]) {

  private lazy val relation = BroadcastKeys.relation(side)

  /** A row for each key, perhaps repeated; valid until the next one. */
  def rows: Iterator[InternalRow] = relation.keys()

  /** A key in terms of such a row. Small integers are packed into one long. */
  def key(at: Int): Expression = relation match {
    case _: LongHashedRelation => HashJoin.extractKeyExprAt(keys, at)
    case _ => BoundReference(at, keys(at).dataType, keys(at).nullable)
  }
}

object BroadcastKeys {

  /** True if no key has two rows, so that a row of the other side finds one partner at most. */
  def areUnique(side: SparkPlan): Boolean = relation(side).keyIsUnique

  private def relation(side: SparkPlan): HashedRelation = side.executeBroadcast[HashedRelation]().value
}
