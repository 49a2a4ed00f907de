package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.catalyst.parser.{ParameterContext, ParserInterface}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** A parser of texts with parameters, which Spark replaces while it parses, since 4.1. */
trait ParserWithParameters extends ParserInterface {

  protected def spark: ParserInterface

  /** Parses a text with `parse`, or else as ours. */
  protected def orOurs(text: String)(parse: String => LogicalPlan): LogicalPlan

  override def parsePlanWithParameters(text: String, parameters: ParameterContext): LogicalPlan =
    orOurs(text)(spark.parsePlanWithParameters(_, parameters))
}
