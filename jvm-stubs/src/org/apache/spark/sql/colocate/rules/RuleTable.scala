package org.apache.spark.sql.colocate.rules

import org.apache.spark.sql.colocate.compat.hooks.SelfCheck
import org.apache.spark.sql.colocate.conf.Json.formats
import org.apache.spark.sql.colocate.conf.{Json, Settings}
import org.apache.spark.sql.internal.SQLConf

/**
 * A rule of conf/rules.json.
 *
 * @param phase  when Spark runs it: the hook that it is injected by
 * @param needed `rows`: without it a query could give other rows; `speed`: it only makes queries faster
 * @param switch a statement that avoids the rule; else it is excluded by its name
 */
case class RuleEntry(name: String, phase: String, needed: String, active: Boolean, switch: Option[String])

/**
 * The rules of conf/rules.json, which decides what is injected and in which order. The control plane registers the
 * table when it attaches, and may switch rules off; until then every rule is active, so queries do not wait for Python.
 * `spark.colocate.rules.excluded` takes rules away from a session.
 */
object RuleTable {

  val Excluded = "spark.colocate.rules.excluded"

  private lazy val known: Seq[RuleEntry] = (Json.resource("rules.json") \ "rules").extract[Seq[RuleEntry]]

  @volatile private var inactive: Set[String] = Set.empty

  @volatile private var lastParsed: (String, Set[String]) = ("", Set.empty)

  /** From the control plane. Fails where its table is not this jar's: they come from different releases then. */
  def register(rules: Seq[RuleEntry]): Unit = {
    require(
      rules.map(_.name) == known.map(_.name),
      s"The control plane has other rules than this jar: ${rules.map(_.name).mkString(", ")}")
    inactive = rules.filterNot(rule => rule.active || rule.needed == "rows").map(_.name).toSet
  }

  /** All names, in order. */
  def names: Seq[String] = known.map(_.name)

  /** A phase's rules in the table's order. Fails unless the table and the code name the same ones. */
  def inOrder[A](phase: String, rules: (String, A)*): Seq[(RuleEntry, A)] = {
    val listed = known.filter(_.phase == phase)
    val byName = rules.toMap
    require(
      listed.map(_.name).toSet == byName.keySet,
      s"conf/rules.json lists for the phase $phase ${listed.map(_.name).mkString(", ")}, " +
        s"the code ${rules.map(_._1).mkString(", ")}")
    listed.map(entry => entry -> byName(entry.name))
  }

  /** Not when it is switched off, for all or this session, nor when a private part of Spark that it needs is gone. */
  def isActive(name: String): Boolean = !SelfCheck.isOff(name) && !inactive(name) && !isExcluded(name)

  def isExcluded(name: String): Boolean = excluded(Settings.get(SQLConf.get, Excluded))(name)

  /** The names of a list, with or without quotes; None where one is no rule that may be excluded. */
  def excludable(list: String): Option[String] =
    Some(parsed(list)).filter(_.forall(name => forSpeed.contains(name))).map(_.mkString(","))

  def forSpeed: Seq[String] = known.filter(_.needed == "speed").map(_.name)

  /** The statement that avoids a rule. */
  def switchOf(name: String): Option[String] =
    known.find(_.name == name).filter(_.needed == "speed").map(_.switch.getOrElse(s"SET $Excluded = $name"))

  /** Asked for each rule of each plan, so the newest list is kept as a set. */
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
