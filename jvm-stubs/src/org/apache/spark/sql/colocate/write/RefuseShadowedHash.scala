package org.apache.spark.sql.colocate.write

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.columns.BucketColumn

/**
 * Delta resolves a generated column's text as any text of the session. Where a function of the user's comes before
 * Spark's own `hash` or `pmod` (a SQL path, `functionResolution.sessionOrder = first`), it computes other buckets than the
 * text stands for, and every later reader believes them. Such a write fails.
 */
case class RefuseShadowedHash(session: SparkSession) extends (LogicalPlan => Unit) {

  // A user may have a column of that name elsewhere: it is the session that must make something else of the text.
  override def apply(plan: LogicalPlan): Unit =
    if (ComputedBuckets.in(plan).exists(b => isComputed(b) && !isBucketId(b)) && !BucketColumn.isSparksOwn(session)) refuse()

  private def isComputed(bucket: Expression): Boolean = bucket match {
    case cast: Cast => isComputed(cast.child)
    case _: Attribute | _: Literal => false
    case other => other.resolved
  }

  private def isBucketId(expression: Expression): Boolean = expression.exists {
    case Pmod(_: Murmur3Hash, _, _) => true
    case _ => false
  }

  private def refuse(): Unit = throw new ColocateException("HASH_SHADOWED",
    "Cannot write into a bucketed Delta table: in this session pmod(hash(...), n) is not Spark's own, so that the rows would " +
      "get other buckets than readers expect. DROP the function of that name, or SET " +
      "spark.sql.functionResolution.sessionOrder = second, or put system.builtin first in the SQL path.")
}
