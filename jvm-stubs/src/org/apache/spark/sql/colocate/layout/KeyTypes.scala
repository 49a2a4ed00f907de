package org.apache.spark.sql.colocate.layout

import org.apache.spark.sql.types._

/** Types whose equal values have equal hashes on both sides of a join, in every file. */
object KeyTypes {

  /** FLOAT and DOUBLE (NaN, -0.0), CHAR (padded on read), collated strings and nested types are not among them. */
  def provable(dataType: DataType): Boolean = dataType match {
    case BooleanType | ByteType | ShortType | IntegerType | LongType => true
    case DateType | TimestampType | TimestampNTZType | BinaryType => true
    case _: DecimalType => true
    case string: StringType => string.isUTF8BinaryCollation && !string.isInstanceOf[CharType]
    case _ => false
  }
}
