package org.apache.spark.sql.colocate.compat

import org.apache.spark.ShuffleDependency
import org.apache.spark.shuffle.ShuffleWriteProcessor
import org.apache.spark.sql.catalyst.InternalRow

/** Shuffles as Spark's Exchange makes them: those of 4.2 have checksums of rows, and retries by them. */
object Dependencies {

  /**
   * The same shuffle, written by another processor. The given one is not run; Spark forgets it as any that it cleans
   * up.
   */
  def writtenBy(
      dependency: ShuffleDependency[Int, InternalRow, InternalRow],
      processor: ShuffleWriteProcessor): ShuffleDependency[Int, InternalRow, InternalRow] =
    new ShuffleDependency[Int, InternalRow, InternalRow](
      dependency.rdd,
      dependency.partitioner,
      dependency.serializer,
      shuffleWriterProcessor = processor,
      rowBasedChecksums = dependency.rowBasedChecksums,
      _checksumMismatchFullRetryEnabled = dependency.checksumMismatchFullRetryEnabled,
      checksumMismatchQueryLevelRollbackEnabled = dependency.checksumMismatchQueryLevelRollbackEnabled)
}
