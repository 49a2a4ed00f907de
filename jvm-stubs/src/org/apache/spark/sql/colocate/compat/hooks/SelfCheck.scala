package org.apache.spark.sql.colocate.compat.hooks

import scala.util.control.NonFatal
import scala.util.{Failure, Try}

import org.apache.spark.internal.Logging
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.compat.Versions
import org.apache.spark.sql.colocate.rules.TestHook

/**
 * At the start every hook is tried, once in a JVM. Where one is gone, the rules that need it are off from the start, one
 * warning says so, and queries run as stock Spark's; what would be shown or written wrong without it is refused.
 */
object SelfCheck extends Logging {

  /** A hook that is not as we know it. */
  private[colocate] case class Missing(hook: Hook, why: String)

  private[colocate] lazy val missing: Seq[Missing] = {
    val hooks = SparkHooks.all ++ (if (Versions.delta.isDefined) DeltaHooks.all else Nil)
    hooks.flatMap(hook => tried(hook).map(Missing(hook, _)))
  }

  private lazy val lost: Set[String] = missing.flatMap(_.hook.neededBy).toSet

  /** Says, once in a JVM, what the jar was not tested with, and what is switched off or refused for it. */
  def atStart(): Unit = told

  private lazy val told: Unit = {
    Versions.untested.foreach(text => logWarning(text))
    if (missing.nonEmpty) logWarning(text(missing))
  }

  /** Is the rule off since a hook that it needs is gone? */
  def isOff(rule: String): Boolean = lost.contains(rule)

  private[colocate] def has(hook: Hook): Boolean = !missing.exists(_.hook eq hook)

  /** Fails for a table that one of these hooks guards, where the hook is gone. */
  private[colocate] def require(table: => String, hooks: Hook*): Unit =
    missing.find(lacks => hooks.exists(_ eq lacks.hook)).foreach { lacks =>
      throw new ColocateException(
        "HOOK_MISSING",
        s"Cannot use $table: its hidden bucket column would be shown or written wrong. For this spark-colocate needs a private " +
          s"part of Spark or Delta, ${lacks.hook.name}, and does not find it in ${Versions.inUse} (${lacks.why}). " +
          s"Use ${Versions.tested}.")
    }

  private def text(lacking: Seq[Missing]): String =
    s"spark-colocate needs private parts of Spark and Delta that it does not find in ${Versions.inUse}. Queries run without " +
      s"what needs them. Use ${Versions.tested}.\n${lacking.map(line).mkString("\n")}"

  private def line(lacking: Missing): String = {
    val off = Option.when(lacking.hook.neededBy.nonEmpty)(s"switched off: ${lacking.hook.neededBy.mkString(", ")}")
    val refused = lacking.hook.guards.map(what => s"refused: $what")
    s"  ${lacking.hook.name}: ${(off ++ refused).mkString("; ")} (${lacking.why})"
  }

  private def tried(hook: Hook): Option[String] =
    if (TestHook.hides(hook.name)) Some("hidden by a test")
    else Try(try hook.probe() catch { case e: LinkageError => throw new IllegalStateException(e) }) match {
      case Failure(NonFatal(e)) => Some(Option(e.getCause).getOrElse(e).toString)
      case _ => None
    }
}
