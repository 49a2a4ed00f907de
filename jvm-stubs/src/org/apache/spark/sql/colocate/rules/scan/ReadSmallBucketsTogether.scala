package org.apache.spark.sql.colocate.rules.scan

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.rules.RerunEnsureRequirements
import org.apache.spark.sql.colocate.rules.join.{HashWithinBuckets, JoinSides, SpreadSettings}
import org.apache.spark.sql.colocate.scan.ExchangeFreeSubtrees
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.joins.ShuffledHashJoinExec

/**
 * Matches: scans with many tiny buckets, where the tasks cost more than the work.
 * Produces: m tasks for n buckets, where m divides n, for all scans between the same Exchanges together, so that every
 * operator there still has its required distribution.
 * Not when: it would add an Exchange (for a write that needs n tasks), or a hash join would no longer fit its memory,
 * or one bucket is large.
 */
case class ReadSmallBucketsTogether(session: SparkSession) extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan = {
    val settings = SpreadSettings(session)
    ExchangeFreeSubtrees.map(plan)(top => together(top, settings).getOrElse(top))
  }

  private def together(top: SparkPlan, settings: SpreadSettings): Option[SparkPlan] =
    for {
      (scans, tasks) <- ExchangeFreeSubtrees.scans(top)
      if !settings.isFew(tasks)
      files <- ExchangeFreeSubtrees.all(scans.map(ExchangeFreeSubtrees.files(_, tasks)))
      bytes = files.map(ExchangeFreeSubtrees.bytes(_, tasks)).transpose.map(_.sum)
      fewer <- count(bytes, settings)
      read = RerunEnsureRequirements(JoinSides.readAs(top, fewer))
      if JoinSides.exchanges(read) <= JoinSides.exchanges(top) && hashJoins(read) >= hashJoins(top)
    } yield read

  /**
   * The least number of tasks, half of the buckets at most, that makes none large. If one bucket is large, none are
   * read together: another bucket in its task makes the longest task longer, and would be read again for each part of
   * it.
   */
  private def count(bytes: Seq[Long], settings: SpreadSettings): Option[Int] = {
    val most = settings.together(bytes.sum)
    if (bytes.max > most) None
    else (settings.cores to bytes.size / 2).find { tasks =>
      bytes.size % tasks == 0 && bytes.indices.groupMapReduce(_ % tasks)(bytes)(_ + _).values.max <= most * 1.1
    }
  }

  private def hashJoins(plan: SparkPlan): Int =
    HashWithinBuckets(session)(plan).collect { case join: ShuffledHashJoinExec => join }.size
}
