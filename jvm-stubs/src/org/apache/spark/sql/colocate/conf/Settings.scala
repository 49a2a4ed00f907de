package org.apache.spark.sql.colocate.conf

import org.apache.spark.internal.config.ConfigEntry
import org.apache.spark.sql.internal.SQLConf

/**
 * The settings' values. conf/settings.json lists them with type, default, allowed values and doc, and
 * [[SettingEntries]] registers them with Spark. So `SET -v` lists them, units work, and a wrong value fails at SET.
 *
 * Each reader takes the session's value, else the default. An unknown key, or one of another type, is a programming
 * error.
 */
object Settings {

  def get(conf: SQLConf, key: String): String = of[String](conf, key)

  def flag(conf: SQLConf, key: String): Boolean = of[Boolean](conf, key)

  /** An integer, a size in bytes or a duration in seconds. */
  def number(conf: SQLConf, key: String): Long = of[Long](conf, key)

  /** One with a fraction. */
  def decimal(conf: SQLConf, key: String): Double = of[Double](conf, key)

  /** Doris' session variable. */
  def joinEnabled(conf: SQLConf): Boolean = !flag(conf, "disable_colocate_join")

  private def of[A](conf: SQLConf, key: String): A = conf.getConf(SettingEntries(key).asInstanceOf[ConfigEntry[A]])
}
