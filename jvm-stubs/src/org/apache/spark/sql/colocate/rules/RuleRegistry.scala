package org.apache.spark.sql.colocate.rules

import org.apache.spark.sql.colocate.compat.hooks.SelfCheck
import org.apache.spark.sql.colocate.conf.Json.formats
import org.apache.spark.sql.colocate.conf.{Json, Settings}
import org.apache.spark.sql.internal.SQLConf

/**
 * A planning rule as conf/rules.json names it.
 *
 * @param needed `rows`: without it a query could give other rows; `speed`: it only makes queries faster
 * @param switch a statement that avoids the rule; else it is excluded by its name
 */
case class RuleEntry(name: String, active: Boolean, needed: String, switch: Option[String])

/**
 * The rules in effect. The control plane registers them when it attaches; until then every rule of conf/rules.json is
 * active, so that queries do not wait for Python. `spark.colocate.rules.excluded` takes rules away from a session.
 */
object RuleRegistry {

  val Excluded = "spark.colocate.rules.excluded"

  private lazy val known: Seq[RuleEntry] = (Json.resource("rules.json") \ "rules").extract[Seq[RuleEntry]]

  @volatile private var registered: Seq[RuleEntry] = Nil

  def register(rules: Seq[RuleEntry]): Unit = registered = rules

  /** The names that Python registered, in order. */
  def order: Seq[String] = registered.map(_.name)

  /** Not when it is switched off, for all or for this session, nor when a private part of Spark or Delta that it needs is gone. */
  def isActive(name: String): Boolean =
    !SelfCheck.isOff(name) && !registered.exists(rule => rule.name == name && !rule.active) && !excluded.contains(name)

  def excluded: Seq[String] = names(Settings.get(SQLConf.get, Excluded))

  /** The names of a list, with or without quotes; None where one is no rule that may be excluded. */
  def excludable(list: String): Option[String] =
    Some(names(list)).filter(_.forall(name => forSpeed.exists(_ == name))).map(_.mkString(","))

  def forSpeed: Seq[String] = known.filter(_.needed == "speed").map(_.name)

  /** The statement that avoids a rule. */
  def switchOf(name: String): Option[String] =
    known.find(_.name == name).filter(_.needed == "speed").map(_.switch.getOrElse(s"SET $Excluded = $name"))

  private def names(list: String): Seq[String] =
    list.split(",").toSeq.map(_.trim.stripPrefix("'").stripSuffix("'").trim).filter(_.nonEmpty)
}
