package org.apache.spark.sql.colocate.rules

import org.apache.spark.sql.colocate.compat.TestHook
import org.apache.spark.sql.colocate.compat.hooks.SelfCheck
import org.apache.spark.sql.colocate.conf.{RuleEntry, RuleList, Settings}
import org.apache.spark.sql.internal.SQLConf

/**
 * The rules of conf/rules.json: this file decides which rules are injected, and in which order. When the control plane
 * connects, it sends its copy of the table, in which rules for speed may be switched off; until then all rules are
 * active. The setting `spark.colocate.rules.excluded` switches rules off for one session.
 */
object RuleTable {

  @volatile private var inactive: Set[String] = Set.empty

  @volatile private var lastParsed: (String, Set[String]) = ("", Set.empty)

  /** Takes the control plane's copy of the table. Fails if it names other rules: then it is of another release. */
  def register(rules: Seq[RuleEntry]): Unit = {
    require(
      rules.map(_.name) == RuleList.names,
      s"The control plane has other rules than this jar: ${rules.map(_.name).mkString(", ")}")
    inactive = rules.filterNot(rule => rule.active || rule.needed == "rows").map(_.name).toSet
  }

  /**
   * A phase's rules in the order of conf/rules.json. Fails unless file and code have the same rules: a jar
   * that was packed anew without its META-INF/services would lack rules that right rows need.
   */
  def inOrder[A](phase: String, rules: (String, A)*): Seq[(RuleEntry, A)] = {
    val listed = RuleList.all.filter(_.phase == phase)
    val byName = rules.toMap
    require(
      listed.map(_.name).toSet == byName.keySet,
      s"conf/rules.json lists for the phase $phase ${listed.map(_.name).mkString(", ")}, " +
        s"the code ${rules.map(_._1).mkString(", ")}")
    listed.filterNot(entry => TestHook.drops(entry.name)).map(entry => entry -> byName(entry.name))
  }

  /**
   * False if it is switched off for all sessions or this one, or if a private class of Spark that it needs is missing.
   */
  def isActive(name: String): Boolean =
    !SelfCheck.isOff(name) && !inactive(name) && !isExcluded(name) && !TestHook.drops(name)

  def isExcluded(name: String): Boolean = excluded(Settings.get(SQLConf.get, RuleList.Excluded))(name)

  /** Called for each rule of each plan, so the set made from the last list is kept. */
  private def excluded(list: String): Set[String] = {
    val (text, set) = lastParsed
    if (text == list) set
    else {
      val fresh = RuleList.parsed(list).toSet
      lastParsed = (list, fresh)
      fresh
    }
  }
}
