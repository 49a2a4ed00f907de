package org.apache.spark.sql.colocate.write

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.columns.BucketColumn

/**
 * Matches: a write that computes buckets by a function that is not Spark's `pmod(hash(...), n)`. Delta resolves the
 * text of a generated column in the session, where a user's function may come first (SQL path,
 * `functionResolution.sessionOrder = first`).
 * Produces: an error: the write would compute other buckets than every later reader expects.
 * Not when: the session resolves the text to Spark's own functions.
 */
case class RefuseShadowedHash(session: SparkSession) extends (LogicalPlan => Unit) {

  // The expression may belong to a column of the same name elsewhere, so the session is checked as well.
  override def apply(plan: LogicalPlan): Unit =
    if (ComputedBuckets.in(plan).exists(b => isComputed(b) && !isBucketId(b)) && !BucketColumn.isSparksOwn(session))
      refuse()

  private def isComputed(bucket: Expression): Boolean = bucket match {
    case cast: Cast => isComputed(cast.child)
    case _: Attribute | _: Literal => false
    case other => other.resolved
  }

  private def isBucketId(expression: Expression): Boolean = expression.exists {
    case Pmod(_: Murmur3Hash, _: Literal | Coalesce(Seq(_, _: Literal)), _) => true
    case _ => false
  }

  private def refuse(): Unit = throw new ColocateException("HASH_SHADOWED",
    "Cannot write into a bucketed Delta table: in this session pmod(hash(...), n) is not Spark's own, so that the " +
      "rows would get other buckets than readers expect. DROP the function of that name, or SET " +
      "spark.sql.functionResolution.sessionOrder = second, or put system.builtin first in the SQL path.")
}
