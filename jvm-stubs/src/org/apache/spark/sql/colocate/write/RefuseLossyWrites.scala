package org.apache.spark.sql.colocate.write

import org.apache.spark.sql.catalyst.SQLConfHelper
import org.apache.spark.sql.catalyst.expressions.{Expression, Murmur3Hash}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.internal.SQLConf.ParquetOutputTimestampType
import org.apache.spark.sql.internal.{LegacyBehaviorPolicy, SQLConf}
import org.apache.spark.sql.types.{DataType, DateType, TimestampType}

/**
 * Matches: a write that computes the buckets of a Delta member from dates or times.
 * Produces: an error if, by the session's settings, Parquet stores another value than the one that was hashed: equal
 * times would lie in different buckets.
 * Not when: the settings keep the values of the keys' types.
 */
object RefuseLossyWrites extends (LogicalPlan => Unit) with SQLConfHelper {

  override def apply(plan: LogicalPlan): Unit =
    if (LossyTimes.settings(conf).nonEmpty) {
      ComputedBuckets.in(plan).flatMap(hashed).foreach(key => refuse(key, LossyTimes.of(conf, key.dataType)))
    }

  private def hashed(bucket: Expression): Seq[Expression] =
    bucket.collect { case hash: Murmur3Hash => hash.children }.flatten

  private def refuse(key: Expression, setting: Option[(String, String)]): Unit = setting.foreach { case (name, cure) =>
    throw new ColocateException("KEY_WRITTEN_LOSSY",
      s"Cannot write into a table that is bucketed by ${key.sql} while $name is ${conf.getConfString(name)}: the " +
        s"value that is stored may be another one than the one whose bucket is computed. SET $name = $cure.")
  }
}

/** Of dates and times, in Parquet files. */
object LossyTimes {

  /** The first setting that may change a value of this type, and the value that keeps it. */
  def of(conf: SQLConf, dataType: DataType): Option[(String, String)] =
    settings(conf).collectFirst { case (types, name, cure) if types.contains(dataType) => name -> cure }

  private[colocate] def settings(conf: SQLConf): Seq[(Set[DataType], String, String)] = {
    val kept = conf.parquetOutputTimestampType
    def isLegacy(policy: LegacyBehaviorPolicy.Value): Boolean = policy == LegacyBehaviorPolicy.LEGACY
    Seq(
      (kept == ParquetOutputTimestampType.TIMESTAMP_MILLIS) ->
        (Set[DataType](TimestampType), SQLConf.PARQUET_OUTPUT_TIMESTAMP_TYPE.key, "TIMESTAMP_MICROS"),
      isLegacy(conf.getConf(SQLConf.PARQUET_REBASE_MODE_IN_WRITE)) ->
        (Set[DataType](DateType, TimestampType), SQLConf.PARQUET_REBASE_MODE_IN_WRITE.key, "CORRECTED"),
      (kept == ParquetOutputTimestampType.INT96 &&
        isLegacy(conf.getConf(SQLConf.PARQUET_INT96_REBASE_MODE_IN_WRITE))) ->
        (Set[DataType](TimestampType), SQLConf.PARQUET_INT96_REBASE_MODE_IN_WRITE.key, "CORRECTED")
    ).collect { case (true, lossy) => lossy }
  }
}
