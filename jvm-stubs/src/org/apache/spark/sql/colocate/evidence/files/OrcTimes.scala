package org.apache.spark.sql.colocate.evidence.files

import org.apache.spark.sql.colocate.layout.BucketLayout
import org.apache.spark.sql.execution.datasources.FileFormat
import org.apache.spark.sql.sources.DataSourceRegister
import org.apache.spark.sql.types.{DateType, TimestampType}

/**
 * Keys that may be read from an ORC file as other values than were hashed. A TIMESTAMP is stored as the local time of
 * the writer's JVM, and its last second before 1970 is read a second late; days that the hybrid calendar lacks
 * (1582-10-05 to 14) are read as 1582-10-15. TIMESTAMP_NTZ is read as it was written.
 */
private[colocate] object OrcTimes {

  /** May a reader get another value than was hashed? Then the file is checked, even if we wrote it. */
  def mayChange(format: FileFormat, layout: BucketLayout): Boolean =
    isOrc(format) && layout.keyTypes.exists(t => t == DateType || t == TimestampType)

  /** Do the values depend on the reader's JVM (its time zone)? Then a check is valid for this reader only. */
  def followReader(format: FileFormat, layout: BucketLayout): Boolean =
    isOrc(format) && layout.keyTypes.contains(TimestampType)

  private def isOrc(format: FileFormat): Boolean = format match {
    case named: DataSourceRegister => named.shortName() == "orc"
    case _ => false
  }
}
