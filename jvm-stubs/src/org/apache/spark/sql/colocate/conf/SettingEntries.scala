package org.apache.spark.sql.colocate.conf

import java.util.Locale
import scala.util.Try

import org.apache.spark.SparkIllegalArgumentException
import org.apache.spark.internal.config.{ConfigBuilder, ConfigEntry, TypedConfigBuilder}
import org.apache.spark.network.util.{ByteUnit, JavaUtils}
import org.apache.spark.sql.colocate.Json
import org.apache.spark.sql.colocate.Json.formats
import org.apache.spark.sql.colocate.compat.hooks.SecretSettings
import org.apache.spark.sql.internal.SQLConf

/**
 * Every key of conf/settings.json as an entry of Spark's configuration, registered once in a JVM, before the first
 * session reads its settings: a wrong value is refused where Spark refuses its own, at SET and when a session starts.
 */
object SettingEntries {

  private case class Entry(
      key: String,
      `type`: String,
      default: String,
      allowed: Option[List[String]],
      min: Option[String],
      max: Option[String],
      since: String,
      doc: String,
      static: Option[Boolean])

  private lazy val entries: Map[String, ConfigEntry[_]] =
    (Json.resource("settings.json") \ "settings").extract[List[Entry]].map(e => e.key -> registered(e)).toMap

  def apply(key: String): ConfigEntry[_] = entries(key)

  def register(): Unit = entries.size

  /** The known key that is most like this one, where this one looks like ours and is not known. */
  def nearest(key: String): Option[String] = {
    val isOurs = Seq("spark.colocate", "disable_colocate").exists(key.toLowerCase(Locale.ROOT).startsWith)
    val isKnown = entries.contains(key) || key.startsWith("spark.colocate.testing")
    Option.when(isOurs && !isKnown)(Nearest(key, entries.keys))
  }

  /** Another loader of our classes may have registered the key in this JVM; its values have the same types. */
  private def registered(entry: Entry): ConfigEntry[_] =
    Option(ConfigEntry.findEntry(entry.key)).getOrElse(made(entry))

  private def made(entry: Entry): ConfigEntry[_] = {
    val build = if (entry.static.contains(true)) SQLConf.buildStaticConf _ else SQLConf.buildConf _
    val builder = build(entry.key).doc(entry.doc).version(entry.since)
    entry.`type` match {
      case "string" if SecretSettings.isSecret(entry.key) =>
        typed[String](builder, entry, value => Some(SecretSettings.beforeSet(value)), identity)
      case "string" => typed[String](builder, entry, Some(_), identity)
      case "boolean" => typed[Boolean](builder, entry, _.toBooleanOption, _.toString)
      case "choice" => typed[String](builder, entry, choice(entry, _), identity)
      case "rules" => typed[String](builder, entry, RuleList.excludable, identity)
      case "integer" => typed[Long](builder, entry, within(entry, _.toLongOption), _.toString)
      case "bytes" => typed[Long](builder, entry, within(entry, bytes), size => s"${size}b")
      case "duration" => typed[Long](builder, entry, within(entry, seconds), time => s"${time}s")
      case "double" => typed[Double](builder, entry, within(entry, number), _.toString)
    }
  }

  private def typed[A](
      builder: ConfigBuilder, entry: Entry, parse: String => Option[A], print: A => String): ConfigEntry[_] =
    new TypedConfigBuilder[A](builder, value => parse(value.trim).getOrElse(throw refused(entry, value)), print)
      .createWithDefaultString(entry.default)

  private def choice(entry: Entry, value: String): Option[String] =
    entry.allowed.toList.flatten.find(_.equalsIgnoreCase(value))

  private def within[A](entry: Entry, parse: String => Option[A])(value: String)(
      implicit order: Ordering[A]): Option[A] =
    parse(value).filter { number =>
      entry.min.flatMap(parse).forall(order.lteq(_, number)) && entry.max.flatMap(parse).forall(order.gteq(_, number))
    }

  private def bytes(value: String): Option[Long] = Try(JavaUtils.byteStringAs(iec(value), ByteUnit.BYTE)).toOption

  private def seconds(value: String): Option[Long] =
    Try(JavaUtils.timeStringAs(value, java.util.concurrent.TimeUnit.SECONDS)).toOption

  private def number(value: String): Option[Double] = value.toDoubleOption.filterNot(n => n.isNaN || n.isInfinite)

  /** `128MiB` as Spark writes it: 128m. Its own `MB` is 1024 * 1024 bytes, too. */
  private def iec(value: String): String = value.toLowerCase(Locale.ROOT).replaceFirst("(?<=[kmgtp])ib$", "")

  private def refused(entry: Entry, value: String): Throwable = new SparkIllegalArgumentException(
    errorClass = "INVALID_CONF_VALUE.REQUIREMENT",
    messageParameters = Map(
      "confValue" -> value,
      "confName" -> entry.key,
      "confRequirement" -> (s"It must be ${allowed(entry)}." +: why(entry, value)).mkString(" ")))

  private def why(entry: Entry, value: String): Seq[String] =
    if (entry.`type` == "rules") RuleList.refused(value) else Nil

  /** The allowed values in words, as on the reference page. */
  private def allowed(entry: Entry): String = entry.`type` match {
    case "boolean" => "true or false"
    case "rules" =>
      s"names of rules that only make queries faster, separated by commas: ${RuleList.forSpeed.mkString(", ")}"
    case "choice" => entry.allowed.toList.flatten.mkString(" or ")
    case "integer" => "an integer" + bounds(entry)
    case "bytes" => "a size in bytes, or with a unit, as 4m or 128MiB" + bounds(entry)
    case "duration" => "a number of seconds, or with a unit, as 30s, 5min or 1d" + bounds(entry)
    case "double" => "a number" + bounds(entry)
    case other => other
  }

  private def bounds(entry: Entry): String = (entry.min, entry.max) match {
    case (Some(least), Some(most)) => s", from $least to $most"
    case (Some(least), None) => s", at least $least"
    case (None, Some(most)) => s", at most $most"
    case (None, None) => ""
  }
}
