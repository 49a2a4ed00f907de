package org.apache.spark.sql.colocate.columns

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.evidence.delta.DeltaClauses
import org.apache.spark.sql.types.{DataType, MapType, StructType}

/**
 * Matches: every statement on a Delta table with hidden columns whose analysed plan does not pass Spark's check, such
 * as one with an unknown column; ALTER of columns; and UPDATE or MERGE that sets a column to a value that can't be cast
 * to the column's type.
 * Produces: the error that the check gives for the table without its hidden columns. The plan is never changed.
 * Not when: the statement has no error without the hidden columns; then Spark's own check fails next.
 */
case class CheckErrors(session: SparkSession) extends Rule[LogicalPlan] {

  private val target = WithoutBucketColumn(session)

  override def apply(plan: LogicalPlan): LogicalPlan = {
    if (!plan.resolved || AlterErrors.isOfColumns(plan)) {
      target.withoutBuckets(plan).foreach(plain => target.throwErrorOf(plan, plain)(check))
    }
    if (plan.resolved) checkTypes(plan)
    CheckOptimize(session, plan)
    plan
  }

  /** Checks a copy, because the check marks the nodes of a valid plan as analysed. */
  private def check(plan: LogicalPlan): Unit = session.sessionState.analyzer.checkAnalysis0(plan.clone())

  /**
   * Fails if a value can't be cast to the type of its column. Spark's own check runs after a rule of Delta's, which
   * computes the bucket column from the value first, so its error would show the expression of the bucket column.
   * Structs and maps are not checked here: Delta casts them field by field.
   */
  private def checkTypes(change: LogicalPlan): Unit = for {
    (column, value) <- assignments(change).find { case (column, value) =>
      !Cast.canCast(value.dataType, column) && !isDeltas(Seq(column, value.dataType))
    }
    if target.withoutBuckets(change).isDefined
  } CurrentOrigin.withOrigin(change.origin) {
    check(Project(Seq(Alias(Cast(value, column), "value")()), LocalRelation(value.references.toSeq)))
  }

  /** The type of each column that UPDATE or MERGE sets, and its value. */
  private def assignments(change: LogicalPlan): Seq[(DataType, Expression)] =
    DeltaClauses.update(change).toSeq.flatMap(set => set.columns.map(_.dataType).zip(set.values)) ++
      DeltaClauses.merge(change).toSeq.flatMap { case (table, set) =>
        set.flatMap { case (name, value) =>
          table.output.find(a => conf.resolver(a.name, name)).map(_.dataType -> value)
        }
      }

  /** Delta casts these where Spark's cast does not: structs, and maps to maps. */
  private def isDeltas(types: Seq[DataType]): Boolean =
    types.exists(_.existsRecursively(_.isInstanceOf[StructType])) ||
      types.forall(_.existsRecursively(_.isInstanceOf[MapType]))
}
