package org.apache.spark.sql.colocate.rules.join

import org.apache.spark.SparkContext
import org.apache.spark.internal.config._

/** The memory of a task, as the driver can know it. */
object TaskMemory {

  private val ReservedBytes = 300L << 20

  /** What Spark's unified memory manager guarantees to a task: 1 / (2 x tasks) of the execution pool. */
  def guaranteedBytes(context: SparkContext): Long = {
    val conf = context.conf
    val onHeap = ((heap(context) - ReservedBytes).max(0L) * conf.get(MEMORY_FRACTION)).toLong
    // Hash tables are then off the heap, at least partly.
    val pool = if (conf.get(MEMORY_OFFHEAP_ENABLED)) onHeap.min(conf.get(MEMORY_OFFHEAP_SIZE)) else onHeap
    pool / (2L * tasks(context).max(1))
  }

  /** A task's part of the heap, for what is not in Spark's pools, such as the buffers of readers. */
  def heapBytes(context: SparkContext): Long = heap(context) / tasks(context).max(1)

  private def heap(context: SparkContext): Long =
    if (context.isLocal) Runtime.getRuntime.maxMemory else context.conf.get(EXECUTOR_MEMORY) << 20

  /** A standalone executor without a configured number of cores takes all cores of its host. */
  private def tasks(context: SparkContext): Int =
    if (context.isLocal || (!context.conf.contains(EXECUTOR_CORES) && context.master.startsWith("spark://"))) {
      context.defaultParallelism
    } else context.conf.get(EXECUTOR_CORES)
}
