package org.apache.spark.sql.colocate.rules.semantics

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ProjectExec, SparkPlan}

/**
 * Matches: a MERGE with deletes and inserts on a table with a change feed, whose target rows match twice. Delta drops
 * duplicate deletes by `coalesce(id of the target row, id of the source row)`. Both ids are made by
 * `monotonically_increasing_id()`, which counts from 0 in every task: if an inserted row has the number of a copied
 * target row of the same task, one of them is lost.
 * Produces: ids below 0 for the source's rows, so that they differ from all ids of the target.
 * Not when: the plan has no such pair of ids.
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
