package org.apache.spark.sql.colocate.write

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan, OneRowRelation, Project}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.layout.BucketColumn

/**
 * Delta resolves a generated column's text as any text of the session. Where a function of the user's comes before
 * Spark's own `hash` or `pmod` (a SQL path, `functionResolution.sessionOrder = first`), it computes other buckets than the
 * text stands for, and every later reader believes them. Such a write fails.
 */
case class RefuseShadowedHash(session: SparkSession) extends (LogicalPlan => Unit) {

  override def apply(plan: LogicalPlan): Unit = plan.foreach {
    // Delta looks at the text of a table that is only read.
    case Project(_, local: LocalRelation) if local.data.isEmpty =>
    case node => node.expressions.foreach {
      case Alias(bucket, BucketColumn.Name) if isComputed(bucket) && !isBucketId(bucket) && isShadowed => refuse()
      case _ =>
    }
  }

  private def isComputed(bucket: Expression): Boolean = bucket match {
    case cast: Cast => isComputed(cast.child)
    case _: Attribute | _: Literal => false
    case other => other.resolved
  }

  private def isBucketId(expression: Expression): Boolean = expression.exists {
    case Pmod(_: Murmur3Hash, _, _) => true
    case _ => false
  }

  /** Is it the session that makes something else of the text? A user may have a column of that name elsewhere. */
  private def isShadowed: Boolean = {
    val text = session.sessionState.sqlParser.parseExpression("pmod(hash(1), 2)")
    val analyzed = session.sessionState.executePlan(Project(Seq(Alias(text, "bucket")()), OneRowRelation())).analyzed
    !analyzed.expressions.exists(isBucketId)
  }

  private def refuse(): Unit = throw new ColocateException("HASH_SHADOWED",
    "Cannot write into a bucketed Delta table: in this session pmod(hash(...), n) is not Spark's own, so that the rows would " +
      "get other buckets than readers expect. DROP the function of that name, or SET " +
      "spark.sql.functionResolution.sessionOrder = second, or put system.builtin first in the SQL path.")
}
