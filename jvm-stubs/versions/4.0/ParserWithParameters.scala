package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** A parser of texts with parameters: Spark 4.0 puts their values into the parsed plan. */
trait ParserWithParameters extends ParserInterface {

  protected def spark: ParserInterface

  /** Parses a text with `parse`, or else as ours. */
  protected def orOurs(text: String)(parse: String => LogicalPlan): LogicalPlan
}
