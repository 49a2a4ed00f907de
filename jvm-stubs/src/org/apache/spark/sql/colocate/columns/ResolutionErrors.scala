package org.apache.spark.sql.colocate.columns

import org.apache.spark.sql.catalyst.plans.logical.{InsertIntoStatement, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.classic.SparkSession

/**
 * Matches: INSERT by name, or with a list of columns, into a bucketed Delta table, if Spark's ResolveInsertInto fails
 * on it.
 * Produces: the error that ResolveInsertInto gives for the table without its bucket column. The plan is never changed.
 * Not when: the statement has no error without the bucket column; then Spark's own rule fails next.
 */
case class ResolutionErrors(session: SparkSession) extends Rule[LogicalPlan] {

  private val target = WithoutBucketColumn(session)

  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan match {
      case insert: InsertIntoStatement if insert.query.resolved && isByName(insert) =>
        target.withoutBuckets(insert.table).foreach { table =>
          val plain = CurrentOrigin.withOrigin(insert.origin)(insert.copy(table = table))
          target.throwErrorOf(insert, plain)(session.sessionState.analyzer.ResolveInsertInto(_))
        }
      case _ =>
    }
    plan
  }

  private def isByName(insert: InsertIntoStatement): Boolean = insert.byName || insert.userSpecifiedCols.nonEmpty
}
