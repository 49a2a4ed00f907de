package org.apache.spark.sql.colocate.rules.join

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.conf.Settings

/** The settings for the size of tasks. */
private[colocate] case class SpreadSettings(session: SparkSession) {
  private def conf = session.sessionState.conf

  val cores: Int = session.sparkContext.defaultParallelism.max(1)

  /** A task should read more than it costs to open a file; small buckets share a task up to four times this. */
  lazy val least: Long = conf.filesOpenCostInBytes.max(1)

  def taskCost: Long = least / 2

  /** The largest number of parts of a bucket; the other sides of the join are read again for each. */
  val maxParts: Int = 64

  /** The size of a task that the user set, which is used whether it pays or not. */
  lazy val wantedBytes: Option[Long] = Some(Settings.number(conf, "spark.colocate.skew.targetTaskBytes")).filter(_ > 0)

  /** Bytes of a task when residues are split: from one to four tasks for each core. */
  def targets(total: Long): Seq[Long] =
    wantedBytes.fold(Seq(1, 2, 3, 4).map(n => (total / (n * cores)).max(least)).distinct)(Seq(_))

  /** Bytes up to which small residues share a task. */
  def together(total: Long): Long = wantedBytes.getOrElse((4 * least).min(total / cores).max(1))

  /** So few tasks that their number costs nothing. */
  def isFew(tasks: Int): Boolean = wantedBytes.isEmpty && tasks <= 4 * cores
}
