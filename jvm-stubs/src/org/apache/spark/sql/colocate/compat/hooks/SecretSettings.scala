package org.apache.spark.sql.colocate.compat.hooks

import java.util
import java.util.Collections
import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.internal.config.ConfigReader
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.util.Utils

/**
 * Settings that can be set and never read back. A session's settings are in a map, which [[install]] replaces by one
 * that keeps a secret beside itself and holds a mark instead. So nothing that reads settings has it: `SET`,
 * `spark.conf.get`, the UI, the properties of jobs in the event log, a copy of the session.
 *
 * It is done before a session's first statement and its first query, and before the first secret of the active and the
 * default session. Until then, another session shows a secret to who has set it, and to nobody else.
 */
private[colocate] object SecretSettings extends Logging {

  val Mark: String = Utils.REDACTION_REPLACEMENT_TEXT

  val Token = "spark.colocate.acl.token"

  private val secret = Set(Token)
  private val kept = Collections.synchronizedMap(new util.WeakHashMap[SQLConf, util.Map[String, String]])
  private lazy val settings = field("settings")
  private lazy val reader = field("reader")

  def isSecret(key: String): Boolean = secret(key)

  /** Whether a secret can be set in a session at all. */
  def canKeep: Boolean = SelfCheck.has(SparkHooks.Settings)

  /** Fails where settings are kept in another way. */
  def probe(): Unit = {
    val (conf, number) = (new SQLConf, SQLConf.SHUFFLE_PARTITIONS)
    replace(conf)
    conf.setConfString(Token, "probe")
    conf.setConfString(number.key, "7")
    val isReplaced = conf.getConfString(Token) == Mark && kept.get(conf).get(Token) == "probe"
    require(isReplaced && conf.getConf(number) == 7, "the settings of SQLConf can't be replaced")
  }

  /** The secret itself; empty without one, and in a copy of a session. */
  def of(session: SparkSession, key: String): String = {
    install(session)
    Option(kept.get(session.sessionState.conf)).flatMap(found => Option(found.get(key))).getOrElse("")
  }

  /** Spark checks a value before it keeps it. */
  def beforeSet(value: String): String = {
    if (value.nonEmpty && value != Mark) {
      (SparkSession.getActiveSession ++ SparkSession.getDefaultSession).toSeq.distinct.foreach(quietly)
    }
    value
  }

  def install(session: SparkSession): Unit = if (canKeep) {
    val conf = session.sessionState.conf
    if (!kept.containsKey(conf)) synchronized { if (!kept.containsKey(conf)) replace(conf) }
  }

  private def quietly(session: SparkSession): Unit =
    try install(session)
    catch { case NonFatal(e) => logDebug("The session has no settings", e) }

  private def replace(conf: SQLConf): Unit = {
    val secrets = Collections.synchronizedMap(new util.HashMap[String, String])
    val before = settings.get(conf).asInstanceOf[util.Map[String, String]]
    before.synchronized {
      val marked = new Marked(secrets)
      before.asScala.foreach { case (key, value) => marked.put(key, value) }
      val now = Collections.synchronizedMap(marked)
      settings.set(conf, now)
      reader.set(conf, new ConfigReader(now))
    }
    kept.put(conf, secrets)
  }

  private def field(name: String) = {
    val found = classOf[SQLConf].getDeclaredField(name)
    found.setAccessible(true)
    found
  }

  private class Marked(secrets: util.Map[String, String]) extends util.HashMap[String, String] {

    override def put(key: String, value: String): String =
      if (!isSecret(key) || value.isEmpty) {
        secrets.remove(key)
        super.put(key, value)
      } else {
        if (value != Mark) secrets.put(key, value)
        super.put(key, Mark)
      }

    override def remove(key: AnyRef): String = {
      secrets.remove(key)
      super.remove(key)
    }

    override def clear(): Unit = {
      secrets.clear()
      super.clear()
    }
  }
}
