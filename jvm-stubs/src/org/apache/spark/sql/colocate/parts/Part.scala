package org.apache.spark.sql.colocate.parts

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.Services
import org.apache.spark.sql.colocate.conf.RuleList
import org.apache.spark.sql.colocate.system.{SystemProcedure, SystemView}
import org.apache.spark.sql.execution.SparkPlan

/**
 * A part of the product that the core runs without: `doris` and `ops` are parts. Found as a service, so that a jar
 * without it has neither its rules nor its statements.
 */
trait Part {

  def rules: PartRules = PartRules()

  /**
   * DynamicBucketPruning with what the part prunes by the same broadcasts, for a plan without adaptive execution: its
   * filters have copies of the joins' broadcasts, and no scan below a copy may change later.
   */
  def pruningWithoutAqe: Option[SparkSession => Rule[SparkPlan]] = None

  def procedures: Seq[SystemProcedure] = Nil

  def tables: Seq[SystemView] = Nil
}

object Part {

  lazy val all: Seq[Part] = Services.of(classOf[Part])

  /** Without its parts, a session would read tables with key models as they were loaded. */
  def check(): Unit = if (all.isEmpty && RuleList.hasParts) throw new IllegalStateException(
    "This spark-colocate jar has lost its META-INF/services: it was packed anew, and its rules for key models and " +
      "jobs would be missing. Use the jar as it was built; or let the tool that packs jars merge service files.")
}
