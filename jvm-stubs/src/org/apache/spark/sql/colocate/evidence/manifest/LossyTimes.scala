package org.apache.spark.sql.colocate.evidence.manifest

import org.apache.spark.sql.internal.SQLConf.ParquetOutputTimestampType
import org.apache.spark.sql.internal.{LegacyBehaviorPolicy, SQLConf}
import org.apache.spark.sql.types.{DataType, DateType, TimestampType}

/** The settings of Parquet under which a written DATE or TIMESTAMP is read back as another value. */
object LossyTimes {

  /** The first setting that may change a value of this type, and the value that keeps it. */
  def of(conf: SQLConf, dataType: DataType): Option[(String, String)] =
    settings(conf).collectFirst { case (types, name, cure) if types.contains(dataType) => name -> cure }

  private[colocate] def settings(conf: SQLConf): Seq[(Set[DataType], String, String)] = {
    val kept = conf.parquetOutputTimestampType
    // A text in Spark 4.0, a value of the enumeration since 4.1.
    def isLegacy(policy: Any): Boolean = policy.toString == LegacyBehaviorPolicy.LEGACY.toString
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
