package org.apache.spark.sql.colocate.parser

import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.Services

/** The statements of another dialect. Found as a service. */
trait OtherTexts {

  /**
   * The plan of a text that Spark's parser refused; None if the dialect does not know it either.
   *
   * @param parse Spark's parser, for what the text means to Spark
   */
  def parsed(session: SparkSession, text: String, refused: ParseException)(
      parse: String => LogicalPlan): Option[LogicalPlan]

  /** What a statement that Spark knows, too, means in the session's dialect. */
  def meaning(plan: LogicalPlan, session: SparkSession): LogicalPlan

  /** Fails for a statement that Spark takes and the dialect's users mean something else by. */
  def check(plan: LogicalPlan, text: String): Unit
}

private[parser] object OtherTexts {
  lazy val all: Seq[OtherTexts] = Services.of(classOf[OtherTexts])
}
