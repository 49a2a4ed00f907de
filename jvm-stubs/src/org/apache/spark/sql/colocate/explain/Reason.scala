package org.apache.spark.sql.colocate.explain

import org.apache.spark.sql.colocate.Json
import org.apache.spark.sql.colocate.Json.formats

/**
 * Why an operator is not colocated: a code of conf/reasons.json and the arguments of its sentence and cure.
 * The sentence of GROUP_NOT_STABLE is literally Doris' own.
 */
case class Reason(code: String, args: Map[String, String]) {

  def sentence: String = fill(entry.sentence)

  def cure: String = fill(entry.cure)

  def text: String = s"colocate: false, $detail"

  def detail: String = s"reason: $sentence [$code]; cure: $cure"

  private def entry: Reason.Entry = Reason.catalogue(code)

  private def fill(template: String): String =
    args.foldLeft(template) { case (text, (name, value)) => text.replace(s"{$name}", value) }
}

object Reason {
  private case class Entry(code: String, sentence: String, cure: String)

  private lazy val catalogue: Map[String, Entry] =
    (Json.resource("reasons.json") \ "reasons").extract[List[Entry]].map(e => e.code -> e).toMap

  def apply(code: String, args: (String, String)*): Reason = Reason(code, args.toMap)
}
