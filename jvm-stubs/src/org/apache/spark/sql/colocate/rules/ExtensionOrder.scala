package org.apache.spark.sql.colocate.rules

import scala.collection.mutable

import org.apache.spark.SparkContext
import org.apache.spark.internal.Logging
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.colocate.compat.hooks.{SelfCheck, SparkHooks}
import org.apache.spark.sql.internal.StaticSQLConf

/**
 * Delta resolves its writes and plans its scans by rules of its own, and the first matching rule wins, so our extension
 * must be listed before Delta's. If Delta is listed first, this warns and moves our rules ahead.
 */
object ExtensionOrder extends Logging {

  private val Ours = "io.colocate.spark.ColocateExtensions"
  private val Deltas = "io.delta.sql.DeltaSparkSessionExtension"

  /** Do Delta's rules come before ours, because ours could not be moved? */
  @volatile var isMisplaced: Boolean = false

  /** Runs the injections; if Delta's came before, ours are moved ahead of them, in each list of rules. */
  def putFirst(extensions: SparkSessionExtensions)(inject: => Unit): Unit =
    if (!isWrong) inject
    else if (!SelfCheck.has(SparkHooks.RuleLists)) {
      isMisplaced = true
      inject
    } else {
      logWarning(s"spark.sql.extensions lists $Deltas before $Ours; the rules are put in the right order. " +
        s"List $Ours first.")
      first(extensions)(inject)
    }

  /** Runs the injections, and moves them ahead of all that were there before, in each list of rules. */
  private[colocate] def first(extensions: SparkSessionExtensions)(inject: => Unit): Unit = {
    val lists = ruleLists(extensions)
    val before = lists.map(_.size)
    inject
    lists.zip(before).foreach { case (list, size) => rotate(list, size) }
  }

  private def rotate(list: mutable.Buffer[Any], before: Int): Unit = {
    val ours = list.drop(before).toSeq
    list.remove(before, ours.size)
    list.prependAll(ours)
  }

  private def isWrong: Boolean = {
    val listed = SparkContext.getActive.toSeq
      .flatMap(_.conf.get(StaticSQLConf.SPARK_SESSION_EXTENSIONS.key, "").split(","))
      .map(_.trim)
    listed.contains(Deltas) && listed.indexOf(Deltas) < listed.indexOf(Ours)
  }

  /** Spark keeps each kind of rule in a private buffer, in the order of injection. */
  private def ruleLists(extensions: SparkSessionExtensions): Seq[mutable.Buffer[Any]] =
    classOf[SparkSessionExtensions].getDeclaredFields.toSeq.flatMap { field =>
      field.setAccessible(true)
      field.get(extensions) match {
        case list: mutable.Buffer[_] => Some(list.asInstanceOf[mutable.Buffer[Any]])
        case _ => None
      }
    }
}
