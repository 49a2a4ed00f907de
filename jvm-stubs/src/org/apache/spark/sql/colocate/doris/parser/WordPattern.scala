package org.apache.spark.sql.colocate.doris.parser

import scala.util.matching.Regex

/**
 * A pattern of words of conf/doris_statements.json as a regular expression. It says which statements the control plane
 * is asked about, which reads them by tokens.
 */
object WordPattern {

  private val Name = """(?:`[^`]*`|[^\s`(),;=]++)++"""
  private val Value = """(?:'[^']*'|"[^"]*"|`[^`]*`|[^\s'"`(),;=]++)"""

  /** Matches at the start of a text without comments. */
  def first(words: String): Regex = s"(?is)^${pieces(words, Name)}".r

  /** Matches anywhere in a text. */
  def anywhere(words: String): Regex = s"(?is)${pieces(words, Value)}".r

  private def pieces(words: String, name: String): String = words.split(' ').toSeq.map(piece(_, name)).mkString("\\s*+")

  private def piece(word: String, name: String): String = word match {
    case "*" => name
    case "..." => ".*?"
    case "$" => "(?=;|$)"
    case optional if optional.length > 2 && optional.startsWith("[") && optional.endsWith("]") =>
      s"(?:${choices(optional.substring(1, optional.length - 1))})?"
    case _ => choices(word)
  }

  private def choices(words: String): String = words.split('|').map(one).mkString("(?:", "|", ")")

  /** A word has no letter before or behind it; a sign may have. */
  private def one(word: String): String =
    if (word == "$") "(?=;|$)"
    else if (word.forall(c => c.isLetterOrDigit || c == '_')) s"\\b${Regex.quote(word)}\\b"
    else Regex.quote(word)
}
