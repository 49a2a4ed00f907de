package org.apache.spark.sql.colocate.doris.parser

import java.util.Locale

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.colocate.Json.formats
import org.apache.spark.sql.colocate.{ColocateException, Json}
import org.apache.spark.sql.execution.command.SetCommand

/**
 * Variables of Doris and StarRocks that decide which rows a statement has (conf/doris_variables.json). Spark's SET
 * takes any name, so users would believe that it has an effect.
 */
object RowVariables {

  private case class Variable(name: String, harmless: Seq[String], why: String, cure: String) {
    def isNamed(wanted: String): Boolean =
      if (name.endsWith("*")) wanted.startsWith(name.dropRight(1)) else wanted == name

    /** A value may be a list, as that of sql_mode. */
    def changesRows(value: String): Boolean = value.split(",", -1).exists(part => !harmless.contains(plain(part)))
  }

  private lazy val variables = (Json.resource("doris_variables.json") \ "variables").extract[Seq[Variable]]

  /** Doris sets several in one statement, which Spark takes as one value. */
  private val Another = """\s*(?:(?i:session|global|local)\s+)?(\w+)\s*:?=(.*)""".r

  /** Throws Spark's kind of error for a text that can't be read. */
  def check(plan: LogicalPlan, text: String): Unit = plan match {
    case SetCommand(Some((key, Some(value)))) => assignments(key, value).foreach { case (name, wanted) =>
        for (one <- variables.find(_.isNamed(plainName(name))) if one.changesRows(plain(wanted)))
          throw new RefusedVariable(text, refusal(name, wanted.trim, one))
      }
    case _ =>
  }

  private def refusal(name: String, value: String, one: Variable): ColocateException =
    new ColocateException("DORIS_UNSUPPORTED", s"Cannot set $name = $value: ${one.why}. ${one.cure}")

  private def assignments(key: String, value: String): Seq[(String, String)] =
    value.split(",", -1).foldLeft(Seq(key -> "")) {
      case (before, Another(name, wanted)) if before.last._2.nonEmpty => before :+ (name -> wanted)
      case (before, part) =>
        val (name, wanted) = before.last
        before.init :+ (name -> (if (wanted.isEmpty) part else s"$wanted,$part"))
    }

  private def plain(value: String): String = value.toLowerCase(Locale.ROOT).filterNot("\"' ".contains(_))

  private def plainName(name: String): String = name.toLowerCase(Locale.ROOT).stripPrefix("experimental_")
}
