package org.apache.spark.sql.colocate.write

import org.apache.spark.sql.catalyst.SQLConfHelper
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan, Project}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.evidence.manifest.LossyTimes
import org.apache.spark.sql.colocate.layout.BucketColumn

/**
 * Matches: a write that computes the buckets of a Delta member.
 * Produces: an error if readers would expect other buckets. By the session's settings, Parquet may store other dates or
 * times than those that are hashed. Or the function is not Spark's `pmod(hash(...), n)`: Delta resolves the text of a
 * generated column in the session, where a user's function may come first (SQL path, `functionResolution.sessionOrder =
 * first`).
 * Not when: the settings keep the values of the keys' types, and the session resolves the text to Spark's functions.
 */
case class CheckComputedBuckets(session: SparkSession) extends (LogicalPlan => Unit) with SQLConfHelper {

  override def apply(plan: LogicalPlan): Unit = {
    val buckets = computed(plan)
    if (LossyTimes.settings(conf).nonEmpty) buckets.flatMap(hashed).foreach { key =>
      LossyTimes.of(conf, key.dataType).foreach { case (name, cure) => refuseLossy(key, name, cure) }
    }
    // The expression may belong to a column of the same name elsewhere, so the session is checked as well.
    if (buckets.exists(b => isComputed(b) && !isBucketId(b)) && !BucketColumn.isSparksOwn(session)) refuseShadowed()
  }

  private def computed(plan: LogicalPlan): Seq[Expression] = plan.collect {
    // Delta resolves a table's text over no rows, also when the table is only read.
    case Project(_, local: LocalRelation) if local.data.isEmpty => Nil
    case node => node.expressions.collect { case Alias(bucket, BucketColumn.Name) => bucket }
  }.flatten

  private def hashed(bucket: Expression): Seq[Expression] =
    bucket.collect { case hash: Murmur3Hash => hash.children }.flatten

  private def isComputed(bucket: Expression): Boolean = bucket match {
    case cast: Cast => isComputed(cast.child)
    case _: Attribute | _: Literal => false
    case other => other.resolved
  }

  private def isBucketId(expression: Expression): Boolean = expression.exists {
    case Pmod(_: Murmur3Hash, _: Literal | Coalesce(Seq(_, _: Literal)), _) => true
    case _ => false
  }

  private def refuseLossy(key: Expression, setting: String, cure: String): Unit =
    throw new ColocateException("KEY_WRITTEN_LOSSY",
      s"Cannot write into a table that is bucketed by ${key.sql} while $setting is ${conf.getConfString(setting)}: " +
        s"the value that is stored may be another one than the one whose bucket is computed. SET $setting = $cure.")

  private def refuseShadowed(): Unit = throw new ColocateException("HASH_SHADOWED",
    "Cannot write into a bucketed Delta table: in this session pmod(hash(...), n) is not Spark's own, so that the " +
      "rows would get other buckets than readers expect. DROP the function of that name, or SET " +
      "spark.sql.functionResolution.sessionOrder = second, or put system.builtin first in the SQL path.")
}
