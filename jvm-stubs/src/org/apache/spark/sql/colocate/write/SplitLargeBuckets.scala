package org.apache.spark.sql.colocate.write

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.conf.Settings
import org.apache.spark.sql.colocate.rules.Rewrite
import org.apache.spark.sql.execution.adaptive.{AQEShuffleReadExec, ShufflePartitionsUtil, ShuffleQueryStageExec}
import org.apache.spark.sql.execution.{CoalescedPartitionSpec, ShufflePartitionSpec, SparkPlan}

/**
 * A bucket that fills several files is written by several tasks, so that a load may use more cores than there are
 * buckets. It is decided from the sizes of the finished shuffle, under adaptive execution only; each task still holds
 * rows of one bucket.
 */
case class SplitLargeBuckets(session: SparkSession) extends Rule[SparkPlan] {

  /** Packed rows in a shuffle take at most about so many times their bytes in Parquet; more would break the file bound. */
  private val ShuffleBytesPerFileByte = 2L

  override def apply(plan: SparkPlan): SparkPlan = Rewrite("SplitLargeBuckets", plan)(_.transformUp {
    case write @ BucketedWriteExec(_, _, _, stage: ShuffleQueryStageExec) =>
      specs(stage).fold(write)(parts => write.copy(child = AQEShuffleReadExec(stage, parts)))
  })

  private def specs(stage: ShuffleQueryStageExec): Option[Seq[ShufflePartitionSpec]] = {
    val target =
      Settings.number(session.sessionState.conf, "spark.colocate.write.targetFileBytes") * ShuffleBytesPerFileByte
    stage.mapStats.filter(_.bytesByPartitionId.exists(_ > target)).map { stats =>
      stats.bytesByPartitionId.toSeq.zipWithIndex.flatMap {
        case (bytes, bucket) if bytes > target =>
          ShufflePartitionsUtil.createSkewPartitionSpecs(stats.shuffleId, bucket, target).getOrElse(whole(bucket, bytes))
        case (bytes, bucket) => whole(bucket, bytes)
      }
    }
  }

  private def whole(bucket: Int, bytes: Long): Seq[ShufflePartitionSpec] =
    Seq(CoalescedPartitionSpec(bucket, bucket + 1, bytes))
}
