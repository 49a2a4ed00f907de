package org.apache.spark.sql.colocate

import java.util.{Map => JMap}

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.colocate.Json.formats

/**
 * Bad input: a headline, both sides and the cure in one message. Its condition and SQLSTATE are those of `code` in
 * conf/errors.json, and its text has Spark's form: `[CONDITION] message SQLSTATE: xxxxx`.
 */
class ColocateException(val code: String, message: String, cause: Option[Throwable] = None, bare: Boolean = false)
    extends AnalysisException(
      if (bare) message else s"[$code] $message SQLSTATE: ${ColocateException.sqlState(code)}",
      line = None,
      startPosition = None,
      cause = cause,
      errorClass = Some(code),
      messageParameters = Map("message" -> message),
      context = Array.empty) {

  override def getSqlState: String = ColocateException.sqlState(code)
  override def getMessageParameters: JMap[String, String] = JMap.of("message", message)
}

object ColocateException {
  private case class Entry(code: String, sqlState: String)

  /** The SQLSTATE of an error that is not in the list: an internal error. */
  private val Internal = "XX000"

  private lazy val states: Map[String, String] =
    (Json.resource("errors.json") \ "errors").extract[List[Entry]].map(e => e.code -> e.sqlState).toMap

  private def sqlState(code: String): String = states.getOrElse(code, Internal)
}
