package org.apache.spark.sql.colocate.doris.parser

import scala.util.matching.Regex

import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.colocate.Json.formats
import org.apache.spark.sql.colocate.{ColocateException, Json}

/**
 * The statements and clauses of Doris and StarRocks in conf/doris_statements.json. A text that Spark's parser refused
 * is sent to the control plane if it begins with such a statement, or if Spark's parser failed at such a clause; a
 * clause elsewhere did not make it fail.
 */
object DorisWords {

  private case class Family(statements: Seq[String])
  private case class Clause(words: String, in: Option[String])

  private lazy val file = Json.resource("doris_statements.json")

  private lazy val statements: Seq[Regex] =
    ((file \ "translated").extract[Seq[String]] ++ (file \ "refused").extract[Seq[Family]].flatMap(_.statements))
      .map(WordPattern.first)

  private lazy val clauses: Seq[Regex] =
    ((file \ "blanked").extract[Seq[String]] ++ (file \ "clauses").extract[Seq[Clause]].map(_.words))
      .map(WordPattern.anywhere)

  def mayBe(text: String, refused: ParseException): Boolean = isStatement(text) || isAtClause(text, refused)

  /** Where Spark's parser failed, as an index into the text; -1 if it does not say. */
  def place(text: String, refused: ParseException): Int = {
    val lines = text.linesWithSeparators.map(_.length).toSeq
    val found = for (line <- refused.start.line; column <- refused.start.startPosition)
      yield lines.take(line - 1).sum + column
    found.getOrElse(-1)
  }

  /** The dialect's error for a statement of Doris; for another text, Spark's error with a line more. */
  def error(text: String, refused: ParseException, found: ColocateException): ParseException =
    if (DorisText.mayBe(text) || isStatement(text)) new WrongDorisText(refused, found)
    else new NotedText(refused, found)

  private def isStatement(text: String): Boolean = {
    val bare = DorisText.withoutComments(text)
    statements.exists(_.findFirstIn(bare).isDefined)
  }

  private def isAtClause(text: String, refused: ParseException): Boolean = {
    val at = place(text, refused)
    at >= 0 && clauses.exists(_.findAllMatchIn(text).exists(found => found.start <= at && at <= found.end))
  }
}
