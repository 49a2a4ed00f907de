package org.apache.spark.sql.colocate.doris.parser

import java.util.{Map => JMap}
import scala.jdk.CollectionConverters._

import org.apache.spark.QueryContext
import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.compat.OwnParseException

/** An error as Spark's ParseException, because Delta's parser, which is called before ours, replaces all others. */
sealed abstract class RefusedText(refused: ParseException)
    extends OwnParseException(
      refused.command,
      refused.start,
      refused.getCondition,
      refused.getMessageParameters.asScala.toMap,
      refused.getQueryContext)

/** Spark's own error for a text that was also tried as a statement of Doris. */
class UnknownText(refused: ParseException) extends RefusedText(refused) {
  override def getMessage: String =
    s"${super.getMessage}\nTried as a statement of Doris or StarRocks, too: it is none that spark-colocate knows.\n"
}

/** The error of a text that is a statement of Doris: wrong, without a counterpart, or not to be translated now. */
class WrongDorisText(refused: ParseException, error: ColocateException) extends RefusedText(refused) {
  override def getMessage: String = s"${error.getMessage}\nAs a statement of Spark: ${refused.getMessage}"
  override def getCondition: String = error.code

  /** PySpark looks for the condition of an error with a context among Spark's own. */
  override def getQueryContext: Array[QueryContext] = Array.empty
  override def getSqlState: String = error.getSqlState
  override def getMessageParameters: JMap[String, String] = error.getMessageParameters
}

/** Spark's own error, where a word of Doris or StarRocks stands at its place: with a line that says what to write. */
class NotedText(refused: ParseException, note: ColocateException) extends RefusedText(refused) {
  override def getMessage: String = s"${super.getMessage}\nAs a text of Doris or StarRocks: ${note.getMessage}\n"
}

/** A SET that Spark's parser takes, of a variable of Doris or StarRocks that would change rows there. */
class RefusedVariable(text: String, error: ColocateException)
    extends OwnParseException(Option(text), Origin(), "INVALID_SET_SYNTAX", Map.empty, Array.empty[QueryContext]) {
  override def getMessage: String = error.getMessage
  override def getCondition: String = error.code
  override def getSqlState: String = error.getSqlState
  override def getMessageParameters: JMap[String, String] = error.getMessageParameters
}
