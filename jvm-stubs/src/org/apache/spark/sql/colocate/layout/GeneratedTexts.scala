package org.apache.spark.sql.colocate.layout

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions.{Alias, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, Project}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.types.StructType

/** Resolves the SQL of generation expressions over a table's columns. */
private[colocate] object GeneratedTexts {

  /** One expression for each text; None if the session can't parse or resolve one of them. */
  def resolve(session: SparkSession, texts: Seq[String], schema: StructType): Option[Seq[Expression]] =
    try {
      val state = session.sessionState
      val named = texts.map(text => Alias(state.sqlParser.parseExpression(text), "generated")())
      state.analyzer.execute(Project(named, LocalRelation(schema))) match {
        case Project(list, _) =>
          Some(list.collect { case Alias(expression, _) if expression.resolved => expression })
            .filter(_.size == texts.size)
        case _ => None
      }
    } catch { case _: AnalysisException => None }
}
