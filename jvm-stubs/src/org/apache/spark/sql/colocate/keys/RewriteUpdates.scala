package org.apache.spark.sql.colocate.keys

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.columns.HiddenColumns
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/**
 * Matches: UPDATE of a table with UNIQUE KEY.
 * Produces: an INSERT of the changed rows, which replace the rows of their keys, as Doris does it. Delta's own UPDATE
 * would also change rows that later loads have replaced.
 * Not when: the statement sets a key column, or the table has AGGREGATE KEY: then it is refused, and so is MERGE into
 * any of these tables.
 */
object RewriteUpdates extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case update: UpdateTable if update.table.resolved =>
      KeyModel.ofTarget(update.table).fold(plan)(rewritten(update, _))
    case merge: MergeIntoTable if merge.targetTable.resolved =>
      KeyModel.ofTarget(merge.targetTable).fold(plan)(refuseMerge(merge, _))
    case _ => plan
  }

  private def rewritten(update: UpdateTable, model: KeyModel): LogicalPlan = {
    if (!model.isUnique) refuse(update.table, model, "UPDATE",
      "its rows are sums and the like of many loaded rows, none of which could be set",
      "INSERT rows that change the aggregates; only tables with UNIQUE KEY have UPDATE")
    val relation = update.table.collectFirst { case relation: DataSourceV2Relation => relation }.getOrElse(
      refuse(update.table, model, "DeltaTable.update", "only UPDATE in SQL inserts the changed rows",
        "Use UPDATE in SQL, with the table's name"))
    val plain = relation.copy(options = CaseInsensitiveStringMap.empty())
    val values = update.assignments.map(assignment => column(assignment.key, relation, model) -> assignment.value)
    val rows = update.condition.foldLeft(update.table)((table, condition) => Filter(condition, table))
    val changed = visible(relation).map(c => changedTo(values, c).fold[NamedExpression](c)(Alias(_, c.name)()))
    AppendData.byName(plain.newInstance(), Project(changed, rows))
  }

  private def changedTo(values: Seq[(String, Expression)], column: Attribute): Option[Expression] =
    values.collectFirst { case (name, value) if conf.resolver(name, column.name) => value }

  private def visible(relation: DataSourceV2Relation): Seq[Attribute] =
    relation.output.filterNot(c => HiddenColumns.contains(c.name))

  /** The name of the value column that an assignment sets. */
  private def column(key: Expression, relation: DataSourceV2Relation, model: KeyModel): String = {
    val name = key match {
      case column: Attribute if !column.isInstanceOf[UnresolvedAttribute] => column.name
      case UnresolvedAttribute(parts) => parts.last
      case other => other.sql
    }
    if (model.isKey(name)) refuse(relation, model, s"UPDATE SET $name",
      "it is a key column, and the row would become another row", "DELETE the row and INSERT it with its new key")
    if (!visible(relation).exists(c => conf.resolver(c.name, name))) refuse(relation, model, s"UPDATE SET $name",
      s"it is no column of the table (columns: ${visible(relation).map(_.name).mkString(", ")})",
      "Set a whole value column; a field of a struct can't be set alone")
    name
  }

  private def refuseMerge(merge: MergeIntoTable, model: KeyModel): Nothing =
    if (model.isUnique) refuse(merge.targetTable, model, "MERGE",
      "each row that is loaded replaces the row of its key, so nothing has to be matched",
      "INSERT the rows of the source; DELETE rows by their keys")
    else refuse(merge.targetTable, model, "MERGE", "each row that is loaded is aggregated into the row of its key",
      "INSERT the rows of the source; DELETE rows by their keys")

  private[keys] def refuse(table: LogicalPlan, model: KeyModel, what: String, why: String, cure: String): Nothing =
    throw new ColocateException("KEY_MODEL_CHANGE",
      s"Cannot run $what on ${TableNames.of(table)}, a table with ${model.clause}: $why. $cure.")
}
