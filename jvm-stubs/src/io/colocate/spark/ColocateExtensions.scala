package io.colocate.spark

import org.apache.spark.sql.colocate.compat.hooks.SelfCheck
import org.apache.spark.sql.colocate.compat.{ExecutorJars, OneJar, SparkVersion}
import org.apache.spark.sql.colocate.conf.{Exposed, SettingEntries}
import org.apache.spark.sql.colocate.parser.ColocateParser
import org.apache.spark.sql.colocate.explain.ExplainProvider
import org.apache.spark.sql.colocate.parts.{Part, PartRules}
import org.apache.spark.sql.colocate.phases.{OptimizeColocatedPlan, OptimizeWithoutAqe, Rules}
import org.apache.spark.sql.colocate.rules.ExtensionOrder
import org.apache.spark.sql.{SparkSession => AnySession, SparkSessionExtensions}
import org.apache.spark.sql.classic.SparkSession

/**
 * Injects all rules, phase by phase. conf/rules.json lists the rules and their order within a phase. This package has
 * only the class names that users type; the code is in org.apache.spark.sql.colocate.
 *
 * {{{
 *   SQL text -> parser -> hint -> resolution -> check -> normalization -> optimizer -> strategy
 *                                 post-hoc                                               |
 *            execution <- columnar <- stage (of adaptive execution) <- preparation <- EnsureRequirements
 * }}}
 */
class ColocateExtensions extends (SparkSessionExtensions => Unit) {

  override def apply(extensions: SparkSessionExtensions): Unit = {
    OneJar.check()
    if (SparkVersion.isOther) SparkVersion.warn() else start(extensions)
  }

  private def start(extensions: SparkSessionExtensions): Unit = {
    Part.check()
    SelfCheck.atStart()

    // before the first session reads its settings
    SettingEntries.register()
    Exposed.refuseAtStart()

    // the driver may have jars that its executors lack
    ExecutorJars.complete()

    // EXPLAIN: the section with the reasons, which needs no setting
    ExplainProvider.register()
    ExtensionOrder.putFirst(extensions)(inject(extensions))
  }

  private def inject(extensions: SparkSessionExtensions): Unit = {
    // text that Spark can't parse: SHOW PROC, statements of Doris; and the hint rules, where analyzers leave them out
    extensions.injectParser((s, spark) => new ColocateParser(s.asInstanceOf[SparkSession], spark))

    // analysis
    Rules.hint.foreach(rule => extensions.injectHintResolutionRule(of(rule)))
    Rules.resolution.foreach(rule => extensions.injectResolutionRule(of(rule)))
    Rules.postHoc.foreach(rule => extensions.injectPostHocResolutionRule(of(rule)))
    Rules.check.foreach(rule => extensions.injectCheckRule(of(rule)))
    Rules.normalization.foreach(rule => extensions.injectPlanNormalizationRule(of(rule)))

    // optimization
    Rules.optimizer.foreach(rule => extensions.injectOptimizerRule(of(rule)))

    // planning; the columnar hook prepares plans without adaptive execution
    Rules.strategy.foreach(rule => extensions.injectPlannerStrategy(of(rule)))
    extensions.injectQueryStagePrepRule(of(OptimizeColocatedPlan(_)))

    // Spark runs the columnar hooks backwards after its transitions
    Rules.columnar.reverse.foreach(rule => extensions.injectColumnar(_ => rule))
    extensions.injectColumnar(of(OptimizeWithoutAqe(_)))
    Rules.stage.foreach(rule => extensions.injectQueryStageOptimizerRule(of(rule)))
  }

  /** The session that Spark gives to an extension is always a classic one. */
  private def of[R](rule: PartRules.Made[R]): AnySession => R = session => rule(session.asInstanceOf[SparkSession])
}
