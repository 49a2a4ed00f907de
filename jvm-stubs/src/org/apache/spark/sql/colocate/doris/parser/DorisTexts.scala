package org.apache.spark.sql.colocate.doris.parser

import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.parser.OtherTexts

/** The statements of Doris and StarRocks, for the core: META-INF/services names it. */
class DorisTexts extends OtherTexts {

  private val ShowProc = """(?is)\s*show\s+proc\s+(?:'([^']*)'|"([^"]*)")\s*;?\s*""".r

  override def parsed(session: SparkSession, text: String, refused: ParseException)(
      parse: String => LogicalPlan): Option[LogicalPlan] = text match {
    case ShowProc(single, double) => Some(ShowProcCommand(Option(single).getOrElse(double)))
    case _ => Option.when(isOne(text, refused))(DorisText.parsed(session, text, refused)(again(session, parse)))
  }

  private def isOne(text: String, refused: ParseException): Boolean =
    DorisText.mayBe(text) || DorisWords.mayBe(text, refused)

  /** What was read once may have another word of Doris: a hint, and LIMIT with two numbers. */
  private def again(session: SparkSession, parse: String => LogicalPlan)(text: String): LogicalPlan =
    try parse(text)
    catch {
      case refused: ParseException if DorisWords.mayBe(text, refused) =>
        DorisText.parsed(session, text, refused)(parse)
    }

  override def meaning(plan: LogicalPlan, session: SparkSession): LogicalPlan = DorisMeaning.of(plan, session)

  override def check(plan: LogicalPlan, text: String): Unit = RowVariables.check(plan, text)
}
