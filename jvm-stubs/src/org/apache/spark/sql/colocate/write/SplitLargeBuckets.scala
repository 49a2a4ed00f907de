package org.apache.spark.sql.colocate.write

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.conf.Settings
import org.apache.spark.sql.colocate.rules.Rewrite
import org.apache.spark.sql.colocate.write.target.BucketedWriteExec
import org.apache.spark.sql.execution.adaptive.{AQEShuffleReadExec, ShufflePartitionsUtil, ShuffleQueryStageExec}
import org.apache.spark.sql.execution.{CoalescedPartitionSpec, ShufflePartitionSpec, SortExec, SparkPlan}

/**
 * Matches: the finished shuffle of a bucketed write under AQE, with a bucket that fills several files.
 * Produces: several tasks for that bucket, so that a load may use more cores than there are buckets. Each task still
 * has rows of one bucket only.
 * Not when: AQE is off, so the sizes are not known.
 */
case class SplitLargeBuckets(session: SparkSession) extends Rule[SparkPlan] {

  /**
   * Rows in a shuffle take at most about this many times their bytes in Parquet; with a larger factor files get too
   * large.
   */
  private val ShuffleBytesPerFileByte = 2L

  override def apply(plan: SparkPlan): SparkPlan = Rewrite("SplitLargeBuckets", plan)(_.transformUp {
    case write: BucketedWriteExec => write.copy(child = split(write.child))
  })

  private def split(input: SparkPlan): SparkPlan = input match {
    case sort: SortExec => sort.copy(child = split(sort.child))
    case stage: ShuffleQueryStageExec => specs(stage).fold[SparkPlan](stage)(AQEShuffleReadExec(stage, _))
    case other => other
  }

  private def specs(stage: ShuffleQueryStageExec): Option[Seq[ShufflePartitionSpec]] = {
    val target =
      Settings.number(session.sessionState.conf, "spark.colocate.write.targetFileBytes") * ShuffleBytesPerFileByte
    stage.mapStats.filter(_.bytesByPartitionId.exists(_ > target)).map { stats =>
      stats.bytesByPartitionId.toSeq.zipWithIndex.flatMap {
        case (bytes, bucket) if bytes > target =>
          ShufflePartitionsUtil.createSkewPartitionSpecs(stats.shuffleId, bucket, target)
            .getOrElse(whole(bucket, bytes))
        case (bytes, bucket) => whole(bucket, bytes)
      }
    }
  }

  private def whole(bucket: Int, bytes: Long): Seq[ShufflePartitionSpec] =
    Seq(CoalescedPartitionSpec(bucket, bucket + 1, bytes))
}
