package org.apache.spark.sql.colocate.rules.scan

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.rules.join.{HashWithinBuckets, JoinSides, SpreadSettings}
import org.apache.spark.sql.colocate.rules.{ExchangeFreeSubtrees, RerunEnsureRequirements}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.joins.ShuffledHashJoinExec

/**
 * Hundreds of tiny buckets cost more in tasks than in work: n buckets are read by m tasks, where m divides n, by all
 * scans of a region together, so every operator of the region is served as before (design D9, "m of n"). Not if an
 * Exchange would come of it (a write that wants n), nor if a hash join would no longer fit its memory.
 */
case class ReadSmallBucketsTogether(session: SparkSession) extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan = {
    val settings = SpreadSettings(session)
    if (settings.readsTogether) ExchangeFreeSubtrees.map(plan)(top => together(top, settings).getOrElse(top)) else plan
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
   * The least number of tasks, half of the buckets at most, that makes none large. Beside one large bucket nothing is read
   * together: whatever shares its task makes the longest task longer, and would be read again for each part of it.
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
