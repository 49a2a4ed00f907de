package org.apache.spark.sql.colocate.columns

import scala.util.Try
import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.analysis.Analyzer
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession

/**
 * Puts HideBucketColumn into a session's analyzer, where Spark leaves it out: the analyzer of a Hive session takes no
 * hint rules of extensions (SPARK-59081). Its list of hint rules is a field that nothing overrides there.
 *
 * The parser calls it. Every query by name parses that name first, and no rule of ours runs early enough: rules are
 * made before their analyzer is finished, and the batch of hints is over when the first of the others runs.
 */
object HintHook {

  private val Field = "hintResolutionRules"

  /** The parser is also used while a session is being made. Then there is no analyzer yet. */
  private val running = ThreadLocal.withInitial[Boolean](() => false)

  def ensure(session: SparkSession): Unit =
    if (!running.get) {
      running.set(true)
      try put(session, session.sessionState.analyzer)
      catch {
        // CheckHiding reports it when a bucketed table is used.
        case NonFatal(_) =>
      } finally running.set(false)
    }

  def isIn(analyzer: Analyzer): Boolean = analyzer.hintResolutionRules.exists(_.isInstanceOf[HideBucketColumn])

  /** The error that kept the rule out of the analyzer, if any. */
  def obstacle(session: SparkSession): Option[Throwable] =
    Try(put(session, session.sessionState.analyzer)).failed.toOption

  private def put(session: SparkSession, analyzer: Analyzer): Unit = synchronized {
    if (!isIn(analyzer)) {
      val rules: Seq[Rule[LogicalPlan]] = analyzer.hintResolutionRules :+ HideBucketColumn(session)
      val field = classOf[Analyzer].getDeclaredField(Field)
      field.setAccessible(true)
      field.set(analyzer, rules)
    }
  }
}
