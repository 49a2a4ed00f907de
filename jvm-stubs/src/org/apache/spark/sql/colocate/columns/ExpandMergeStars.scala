package org.apache.spark.sql.colocate.columns

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.evidence.delta.DeltaTables
import org.apache.spark.sql.colocate.layout.HiddenColumns
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

/**
 * Matches: `UPDATE SET *` and `INSERT *` of a MERGE into a Delta table with hidden columns.
 * Produces: assignments of the visible columns. Delta would look for the hidden ones in the source, too.
 * Not when: the MERGE evolves the schema: then Delta takes the columns of the source, which is right as it is.
 */
case class ExpandMergeStars(session: SparkSession) extends Rule[LogicalPlan] {

  private val AutoMerge = "spark.databricks.delta.schema.autoMerge.enabled"

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case merge: MergeIntoTable if hasStar(merge) && merge.childrenResolved && !evolves(merge) && isBucketed(merge) =>
      merge.copy(
        matchedActions = merge.matchedActions.map(expanded(merge, _)),
        notMatchedActions = merge.notMatchedActions.map(expanded(merge, _)))
  }

  private def hasStar(merge: MergeIntoTable): Boolean = (merge.matchedActions ++ merge.notMatchedActions).exists {
    case _: UpdateStarAction | _: InsertStarAction => true
    case _ => false
  }

  private def expanded(merge: MergeIntoTable, action: MergeAction): MergeAction = action match {
    case UpdateStarAction(condition) => UpdateAction(condition, assignments(merge))
    case InsertStarAction(condition) => InsertAction(condition, assignments(merge))
    case other => other
  }

  private def assignments(merge: MergeIntoTable): Seq[Assignment] =
    merge.targetTable.output.filterNot(c => HiddenColumns.contains(c.name))
      .map(c => Assignment(c, fromSource(merge, c)))

  private def fromSource(merge: MergeIntoTable, column: Attribute): Attribute = {
    val found = merge.sourceTable.output.filter(a => conf.resolver(a.name, column.name)).distinctBy(_.exprId)
    if (found.size == 1) found.head
    else throw new ColocateException("MERGE_STAR",
      s"Cannot resolve column ${column.name} of * in MERGE: the source has ${found.size} such columns " +
        s"(source: ${merge.sourceTable.output.map(_.name).mkString(", ")}). Name the columns instead of *.")
  }

  private def evolves(merge: MergeIntoTable): Boolean =
    merge.withSchemaEvolution || conf.getConfString(AutoMerge, "false").toBoolean

  private def isBucketed(merge: MergeIntoTable): Boolean = merge.targetTable.exists {
    case relation: DataSourceV2Relation => DeltaTables.hidesColumns(session, relation.table)
    case relation: LogicalRelation => HidingRelation.matches(relation) // of a view
    case _ => false
  }
}
