package org.apache.spark.sql.colocate.doris.parser

import scala.annotation.tailrec
import scala.util.matching.Regex

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.expressions.{And, Literal}
import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.plans.logical.{DeleteFromTable, LogicalPlan}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.Json.formats
import org.apache.spark.sql.colocate.bridge.ControlPlane
import org.apache.spark.sql.colocate.conf.Settings
import org.apache.spark.sql.colocate.write.target.InNamedPartitions
import org.json4s.JValue

/**
 * Statements in Doris' spelling, which the control plane turns into Spark's. Only a text that Spark's parser refused
 * comes here, and it is sent only if it has words of Doris: a mistyped statement of Spark fails without that call.
 */
object DorisText extends Logging {

  /** First words, and words that must follow somewhere. */
  private val statements: Seq[(Regex, Regex)] = Seq(
    """create\s+(external\s+)?table\b""" ->
      """\b(distributed\s+by|properties\s*\(|engine\s*=|(aggregate|unique|duplicate)\s+key\b|by\s+(range|list)\s*\()""",
    """alter\s+table\b""" -> """\bset\s*\(|\b(add|drop)\s+(temporary\s+)?partitions?\s+[^(\s]""",
    """truncate\s+table\b""" -> """\bpartition\s*\(""",
    """delete\s+from\b""" -> """^\s+\S+\s+((as\s+)?(?!where\b|as\b)\S+\s+)?(temporary\s+)?partitions?\b""",
    """insert\s+(into|overwrite)\b""" ->
      """^\s+(table\s+)?\S+\s+(temporary\s+partition|partitions\b|partition\s+[^(\s]|partition\s*\(\s*\*)""",
    """drop\s+table\b""" -> """\bforce\b""",
    """show\s+(data|partitions)\b""" -> "",
    """admin\s+(set|show)\b""" -> "",
    """help\s+admin\b""" -> "",
    """recover\s+(database|table|partition)\b""" -> "")
    .map { case (start, word) => s"(?i)^$start".r -> s"(?i)$word".r }

  def mayBe(text: String): Boolean = {
    val bare = withoutComments(text)
    statements.exists { case (start, word) =>
      start.findFirstMatchIn(bare).exists(found => word.findFirstIn(found.after).isDefined)
    }
  }

  /** The text from its first word on. A regular expression would need a stack as deep as there are comments. */
  @tailrec private[parser] def withoutComments(text: String): String = {
    val bare = text.stripLeading()
    val end =
      if (bare.startsWith("--") || bare.startsWith("#") || bare.startsWith("//")) bare.indexOf("\n")
      else if (bare.startsWith("/*")) bare.indexOf("*/") + 1
      else 0
    if (end > 0) withoutComments(bare.substring(end + 1)) else bare
  }

  /** What the text means to Spark. Throws an error for a wrong text, and for one that Doris lacks, too. */
  def parsed(session: SparkSession, text: String, refused: ParseException)(
      parse: String => LogicalPlan): LogicalPlan = {
    val format = Settings.get(session.sessionState.conf, "spark.colocate.dialect.format")
    val answer =
      try {
        ControlPlane.call(session, "translate",
          "text" -> text, "format" -> format, "at" -> DorisWords.place(text, refused),
          "db" -> session.catalog.currentDatabase)
      } catch { case error: ColocateException => throw DorisWords.error(text, refused, error) }
    if (!(answer \ "known").extract[Boolean]) throw new UnknownText(refused)
    (answer \ "warnings").extract[Seq[String]].foreach(warning => logWarning(warning))
    (answer \ "query").extractOpt[String].map { query =>
      ShownRows(parse((answer \ "shown").extract[String]), parse(query))
    }.getOrElse(translated(answer, refused)(parse))
  }

  private def translated(answer: JValue, refused: ParseException)(parse: String => LogicalPlan): LogicalPlan =
    (answer \ "delete").extractOpt[String] match {
      case None => parse((answer \ "statement").extract[String])
      case Some(all) =>
        val named = InNamedPartitions((answer \ "partitions").extract[Seq[String]])
        limited(parse(all), named).getOrElse(throw new UnknownText(refused))
    }

  /** Spark's DELETE has no words for partitions, so they become a part of its condition. */
  private def limited(plan: LogicalPlan, named: InNamedPartitions): Option[LogicalPlan] = plan match {
    case all: DeleteFromTable if all.condition == Literal.TrueLiteral => Some(all.copy(condition = named))
    case some: DeleteFromTable => Some(some.copy(condition = And(named, some.condition)))
    case _ => None
  }
}
