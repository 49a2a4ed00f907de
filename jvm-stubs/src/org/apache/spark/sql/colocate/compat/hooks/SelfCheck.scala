package org.apache.spark.sql.colocate.compat.hooks

import scala.util.control.NonFatal
import scala.util.{Failure, Try}

import org.apache.spark.internal.Logging
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.compat.{BrokenJars, TestHook, Versions}

/**
 * At the start every hook is tried, once in a JVM. If one is missing, the rules that need it are off, one warning says
 * so, and queries run as with stock Spark; what would be shown or written wrong without it is refused.
 */
object SelfCheck extends Logging {

  /** A hook that is not as expected. */
  private[colocate] case class Missing(hook: Hook, why: String)

  private[colocate] lazy val missing: Seq[Missing] = {
    val hooks = SparkHooks.all ++ (if (Versions.delta.isDefined) DeltaHooks.all else Nil)
    hooks.flatMap(hook => tried(hook).map(Missing(hook, _)))
  }

  private lazy val lost: Set[String] = missing.flatMap(_.hook.neededBy).toSet

  /** Warns, once in a JVM, about untested versions, broken jars, and what is switched off or refused for them. */
  def atStart(): Unit = warned

  private lazy val warned: Unit = {
    Seq(Versions.untested, Versions.otherDelta, BrokenJars.warning).flatten.foreach(text => logWarning(text))
    if (missing.nonEmpty) logWarning(text(missing))
  }

  /** Is the rule off because a hook that it needs is missing? */
  def isOff(rule: String): Boolean = lost.contains(rule)

  /** Is a part there as expected? Without Delta, none of Delta's is. */
  private[colocate] def has(hook: Hook): Boolean = !missing.exists(_.hook eq hook) && !absent(hook)

  private lazy val absent: Set[Hook] = if (Versions.delta.isDefined) Set.empty else DeltaHooks.all.toSet

  /** Fails for a table that one of these hooks guards, if the hook is missing. */
  private[colocate] def require(table: => String, hooks: Hook*): Unit =
    missing.find(lacks => hooks.exists(_ eq lacks.hook)).foreach { lacks =>
      throw new ColocateException(
        "HOOK_MISSING",
        s"Cannot use $table: its hidden bucket column would be shown or written wrong. For this spark-colocate needs " +
          s"a private part of Spark or Delta, ${lacks.hook.name}, and does not find it in ${Versions.inUse} " +
          s"(${lacks.why}). $cure")
    }

  private def text(lacking: Seq[Missing]): String =
    s"spark-colocate needs private parts of Spark and Delta that it does not find in ${Versions.inUse}. Queries run " +
      s"without what needs them. $cure\n${lacking.map(line).mkString("\n")}"

  private def cure: String =
    if (Versions.isHidden) "Its jar does not see Delta's: give both the same way, by spark.jars or by the class path."
    else s"Use ${Versions.tested}."

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
