package org.apache.spark.sql.colocate.rules.semantics

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ProjectExec, SparkPlan}

/**
 * A MERGE that deletes and inserts, on a table with a change feed, whose target rows match twice: Delta drops duplicate
 * deletes by `coalesce(id of the target row, id of the source row)`. Both ids are made by
 * `monotonically_increasing_id()`, each counting from 0 in every task, so an inserted row may have the number of a
 * target row that is copied, and one of them is lost where both lie in one task. Numbers below 0 keep the source's
 * apart.
 */
object DisambiguateMergeRowIds extends Rule[SparkPlan] {

  private val OfTarget = "_target_row_index_"
  private val OfSource = "_source_row_index"

  override def apply(plan: SparkPlan): SparkPlan = plan.transformUp {
    case project: ProjectExec => project.transformExpressions {
      case Coalesce(Seq(target: Attribute, source: Attribute)) if target.name == OfTarget && source.name == OfSource =>
        Coalesce(Seq(target, BitwiseNot(source)))
    }
  }
}
