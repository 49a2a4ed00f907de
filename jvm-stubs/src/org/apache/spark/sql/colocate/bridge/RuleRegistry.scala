package org.apache.spark.sql.colocate.bridge

import org.apache.spark.sql.colocate.hooks.SelfCheck

/** A rule as conf/rules.json names it: its place in the list is its order. */
case class RuleEntry(name: String, active: Boolean)

/**
 * The rules in effect. The control plane registers them, in order, when it attaches; until then every rule is active,
 * so that queries do not wait for Python. A rule that it does not name stays active, too.
 */
object RuleRegistry {
  @volatile private var registered: Seq[RuleEntry] = Nil

  def register(rules: Seq[RuleEntry]): Unit = registered = rules

  /** The names that Python registered, in order. */
  def order: Seq[String] = registered.map(_.name)

  /** Not when it is switched off, nor when a private part of Spark or Delta that it needs is gone. */
  def isActive(name: String): Boolean =
    !SelfCheck.isOff(name) && !registered.exists(rule => rule.name == name && !rule.active)
}
