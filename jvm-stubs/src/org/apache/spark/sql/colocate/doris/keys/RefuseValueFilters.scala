package org.apache.spark.sql.colocate.doris.keys

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteIfNeeded
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.layout.HiddenColumns

/**
 * Matches: DELETE and conditional overwrite of a table with AGGREGATE KEY or UNIQUE KEY.
 * Produces: an error if the condition uses value columns: loaded rows would be removed by their own values, not by the
 * value that queries see. The plan is never changed.
 * Not when: the condition uses key columns only; then all loaded rows of a key are removed or none.
 */
case class RefuseValueFilters(session: SparkSession) extends Rule[LogicalPlan] {

  /** Options of a writer that name the rows or the columns by which rows are replaced. */
  private val conditions = Seq("replaceWhere", "replaceOn")
  private val columns = "replaceUsing"

  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan match {
      case delete if delete.nodeName == "DeltaDelete" || delete.isInstanceOf[DeleteFromTable] =>
        KeyModel.ofTarget(delete.children.head).foreach { model =>
          check(delete.children.head, model, "DELETE", delete.expressions)
        }
      case write: OverwriteByExpression =>
        KeyModel.ofTarget(write.table).foreach { model =>
          check(write.table, model, "a conditional overwrite", Seq(write.deleteExpr))
          checkOptions(write.table, model, write.writeOptions)
        }
      case _ =>
    }
    plan
  }

  def checkOptions(table: LogicalPlan, model: KeyModel, options: Map[String, String]): Unit =
    options.foreach { case (key, value) =>
      if (conditions.exists(_.equalsIgnoreCase(key))) {
        check(table, model, key, Seq(session.sessionState.sqlParser.parseExpression(value)))
      } else if (columns.equalsIgnoreCase(key)) {
        check(table, model, key, value.split(",").toSeq.map(name => UnresolvedAttribute.quoted(name.trim)))
      }
    }

  private def check(table: LogicalPlan, model: KeyModel, what: String, conditions: Seq[Expression]): Unit = {
    val used = conditions.flatMap(_.collect {
      case UnresolvedAttribute(parts) => parts.last
      case column: AttributeReference => column.name
    })
    used.find(name => !model.isKey(name) && !HiddenColumns.contains(name)).foreach { name =>
      RewriteUpdates.refuse(table, model, what,
        s"its condition uses $name, a value column, and rows are removed by keys only",
        s"Name key columns in the condition, as in: WHERE ${quoteIfNeeded(model.keys.head)} = ...")
    }
  }
}
