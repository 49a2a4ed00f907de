package org.apache.spark.sql.colocate

import org.apache.spark.sql.internal.SQLConf

import Json.formats

/** Settings are data: conf/settings.json holds key, type, default, since and doc; this reads their values. */
object Settings {

  private case class Entry(key: String, `type`: String, default: String, since: String, doc: String)

  private lazy val defaults: Map[String, String] =
    (Json.resource("settings.json") \ "settings").extract[List[Entry]].map(e => e.key -> e.default).toMap

  /** The session's value, else the default of the catalogue. An unknown key is a programming error. */
  def get(conf: SQLConf, key: String): String = conf.getConfString(key, defaults(key))

  def flag(conf: SQLConf, key: String): Boolean = get(conf, key).trim.equalsIgnoreCase("true")

  def number(conf: SQLConf, key: String): Long = get(conf, key).trim.toLong

  /** One with a fraction. */
  def decimal(conf: SQLConf, key: String): Double = get(conf, key).trim.toDouble

  /** Both switches must allow the join: Doris' session variable and our own setting. */
  def joinEnabled(conf: SQLConf): Boolean =
    flag(conf, "spark.colocate.join.enabled") && !flag(conf, "disable_colocate_join")
}
