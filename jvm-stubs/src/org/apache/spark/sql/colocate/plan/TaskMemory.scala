package org.apache.spark.sql.colocate.plan

import org.apache.spark.SparkContext
import org.apache.spark.internal.config.{EXECUTOR_CORES, EXECUTOR_MEMORY, MEMORY_FRACTION}
import org.apache.spark.util.Utils

/** What Spark's unified memory manager guarantees to a task: 1 / (2 x tasks) of the execution pool. */
object TaskMemory {

  private val ReservedBytes = 300L << 20

  def guaranteedBytes(context: SparkContext): Long = {
    val conf = context.conf
    val (heap, tasks) =
      if (context.isLocal) (Runtime.getRuntime.maxMemory, context.defaultParallelism)
      else (conf.get(EXECUTOR_MEMORY) << 20, conf.get(EXECUTOR_CORES))
    val pool = ((heap - ReservedBytes).max(0L) * conf.get(MEMORY_FRACTION)).toLong
    pool / (2L * tasks.max(1))
  }

  /** For messages: a size as people write it. */
  def text(bytes: Long): String = Utils.bytesToString(bytes)
}
