package org.apache.spark.sql.colocate.rules

import org.apache.spark.sql.colocate.compat.hooks.SelfCheck
import org.apache.spark.sql.colocate.conf.Json.formats
import org.apache.spark.sql.colocate.conf.{Json, Nearest, Settings}
import org.apache.spark.sql.internal.SQLConf

/**
 * A rule of conf/rules.json.
 *
 * @param phase  when Spark runs it; each phase is an extension point of Spark
 * @param needed `rows`: without it a query could return wrong rows; `speed`: it only makes queries faster
 * @param active false if the rule is switched off for all sessions
 * @param switch the statement that avoids the rule, if there is a better one than to exclude it by its name
 * @param was    names that it had in earlier versions
 */
case class RuleEntry(
    name: String, phase: String, needed: String, active: Boolean, switch: Option[String], was: Option[List[String]])

/**
 * The rules of conf/rules.json: this file decides which rules are injected, and in which order. When the control plane
 * connects, it sends its copy of the table, in which rules for speed may be switched off; until then all rules are
 * active. The setting `spark.colocate.rules.excluded` switches rules off for one session.
 */
object RuleTable {

  val Excluded = "spark.colocate.rules.excluded"

  private lazy val known: Seq[RuleEntry] = (Json.resource("rules.json") \ "rules").extract[Seq[RuleEntry]]

  @volatile private var inactive: Set[String] = Set.empty

  @volatile private var lastParsed: (String, Set[String]) = ("", Set.empty)

  /** Takes the control plane's copy of the table. Fails if it names other rules: then it is of another release. */
  def register(rules: Seq[RuleEntry]): Unit = {
    require(
      rules.map(_.name) == known.map(_.name),
      s"The control plane has other rules than this jar: ${rules.map(_.name).mkString(", ")}")
    inactive = rules.filterNot(rule => rule.active || rule.needed == "rows").map(_.name).toSet
  }

  /** The names of all rules, in the order of conf/rules.json. */
  def names: Seq[String] = known.map(_.name)

  /** A phase's rules in the order of conf/rules.json. Fails unless file and code have the same rules for the phase. */
  def inOrder[A](phase: String, rules: (String, A)*): Seq[(RuleEntry, A)] = {
    val listed = known.filter(_.phase == phase)
    val byName = rules.toMap
    require(
      listed.map(_.name).toSet == byName.keySet,
      s"conf/rules.json lists for the phase $phase ${listed.map(_.name).mkString(", ")}, " +
        s"the code ${rules.map(_._1).mkString(", ")}")
    listed.map(entry => entry -> byName(entry.name))
  }

  /**
   * False if it is switched off for all sessions or this one, or if a private class of Spark that it needs is missing.
   */
  def isActive(name: String): Boolean = !SelfCheck.isOff(name) && !inactive(name) && !isExcluded(name)

  def isExcluded(name: String): Boolean = excluded(Settings.get(SQLConf.get, Excluded))(name)

  /** The rules in a list of names, each with or without quotes; None if one of them is not a rule for speed. */
  def excludable(list: String): Option[String] =
    Some(parsed(list)).filter(_.forall(name => forSpeed.contains(name))).map(_.mkString(","))

  /** For each name of a list that may not be excluded: why, and which rule was meant. */
  def refused(list: String): Seq[String] = parsed(list).filterNot(name => forSpeed.contains(name)).map { name =>
    if (names.contains(name)) s"Right rows need $name."
    else {
      val renamed = known.find(_.was.exists(_.contains(name))).map(_.name)
      val meant = renamed.getOrElse(Nearest(name, forSpeed))
      s"There is no rule $name. Did you mean $meant?"
    }
  }

  def forSpeed: Seq[String] = known.filter(_.needed == "speed").map(_.name)

  /** The statement that avoids a rule; None if right rows need the rule. */
  def switchOf(name: String): Option[String] =
    known.find(_.name == name).filter(_.needed == "speed").map(_.switch.getOrElse(s"SET $Excluded = $name"))

  /** Called for each rule of each plan, so the set made from the last list is kept. */
  private def excluded(list: String): Set[String] = {
    val (text, set) = lastParsed
    if (text == list) set
    else {
      val fresh = parsed(list).toSet
      lastParsed = (list, fresh)
      fresh
    }
  }

  private def parsed(list: String): Seq[String] =
    list.split(",").toSeq.map(_.trim.stripPrefix("'").stripSuffix("'").trim).filter(_.nonEmpty)
}
