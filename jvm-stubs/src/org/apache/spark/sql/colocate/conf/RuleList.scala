package org.apache.spark.sql.colocate.conf

import org.apache.spark.sql.colocate.Json
import org.apache.spark.sql.colocate.Json.formats

/**
 * A rule of conf/rules.json.
 *
 * @param phase  when Spark runs it; each phase is an extension point of Spark
 * @param needed `speed`: it only makes queries faster; `rows`: all others, without which rows or statements could be
 *               wrong
 * @param active false if the rule is switched off for all sessions
 * @param switch the statement that avoids the rule, if there is a better one than to exclude it by its name
 */
case class RuleEntry(name: String, phase: String, needed: String, active: Boolean, switch: Option[String])

/** The rules of conf/rules.json, as it was packed into the jar. */
object RuleList {

  val Excluded = "spark.colocate.rules.excluded"

  lazy val all: Seq[RuleEntry] = (Json.resource("rules.json") \ "rules").extract[Seq[RuleEntry]]

  /** Does it list rules of parts of the product that the core runs without? */
  def hasParts: Boolean = (Json.resource("rules.json") \\ "part").children.nonEmpty

  /** The names of all rules, in the order of conf/rules.json. */
  def names: Seq[String] = all.map(_.name)

  /** The rules in a list of names, each with or without quotes; None if one of them is not a rule for speed. */
  def excludable(list: String): Option[String] =
    Some(parsed(list)).filter(_.forall(name => forSpeed.contains(name))).map(_.mkString(","))

  /** For each name of a list that may not be excluded: why, and which rule was meant. */
  def refused(list: String): Seq[String] = parsed(list).filterNot(name => forSpeed.contains(name)).map { name =>
    if (names.contains(name)) s"$name is needed for more than speed."
    else s"There is no rule $name. Did you mean ${Nearest(name, forSpeed)}?"
  }

  def forSpeed: Seq[String] = all.filter(_.needed == "speed").map(_.name)

  /** The statement that avoids a rule; None if it can't be excluded. */
  def switchOf(name: String): Option[String] =
    all.find(_.name == name).filter(_.needed == "speed").map(_.switch.getOrElse(s"SET $Excluded = $name"))

  def parsed(list: String): Seq[String] =
    list.split(",").toSeq.map(_.trim.stripPrefix("'").stripSuffix("'").trim).filter(_.nonEmpty)
}
