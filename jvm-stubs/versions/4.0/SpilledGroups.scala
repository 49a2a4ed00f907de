package org.apache.spark.sql.colocate.compat

import org.apache.spark.SparkEnv
import org.apache.spark.internal.config
import org.apache.spark.sql.execution.UnsafeKVExternalSorter
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.map.BytesToBytesMap

/** The sorter that takes over a table of groups, and spills rows by their number alone before Spark 4.1. */
object SpilledGroups {
  def of(keys: StructType, values: StructType, pageBytes: Long, table: BytesToBytesMap): UnsafeKVExternalSorter = {
    val env = SparkEnv.get
    new UnsafeKVExternalSorter(
      keys, values, env.blockManager, env.serializerManager, pageBytes,
      env.conf.get(config.SHUFFLE_SPILL_NUM_ELEMENTS_FORCE_SPILL_THRESHOLD),
      table)
  }
}
