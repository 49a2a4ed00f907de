package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.catalyst.analysis.NamedRelation
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, OverwriteByExpression, V2WriteCommand}

/** WITH SCHEMA EVOLUTION of a write that is no MERGE, which Spark knows since 4.2. */
object SchemaEvolution {

  def isAsked(write: V2WriteCommand): Boolean = write.withSchemaEvolution

  def overwrite(
      relation: NamedRelation,
      query: LogicalPlan,
      replaced: Expression,
      options: Map[String, String],
      evolve: Boolean): OverwriteByExpression =
    OverwriteByExpression.byName(relation, query, replaced, options, evolve)
}
