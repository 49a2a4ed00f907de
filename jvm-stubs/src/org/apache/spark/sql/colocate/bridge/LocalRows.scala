package org.apache.spark.sql.colocate.bridge

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.{CatalystTypeConverters, InternalRow}
import org.apache.spark.sql.connector.read.LocalScan
import org.apache.spark.sql.types._
import org.json4s.{JArray, JBool, JDouble, JInt, JNothing, JNull, JString, JValue}

/** A few rows that the driver holds already: the result of a procedure or of a system table. */
class LocalRows(schema: StructType, values: => Seq[Row]) extends LocalScan {

  override def readSchema(): StructType = schema

  override def rows(): Array[InternalRow] = {
    val toCatalyst = CatalystTypeConverters.createToCatalystConverter(schema)
    values.map(toCatalyst(_).asInstanceOf[InternalRow]).toArray
  }

  override def description(): String = schema.fieldNames.mkString("LocalRows [", ", ", "]")
}

object LocalRows {

  /** An object of the control plane's JSON, with a field for each column. */
  def row(json: JValue, schema: StructType): Row =
    Row.fromSeq(schema.map(field => value(json \ field.name, field.dataType)))

  /** A value of the control plane's JSON as the type that the column has. */
  def value(json: JValue, dataType: DataType): Any = (json, dataType) match {
    case (JNull | JNothing, _) => null
    case (JInt(number), IntegerType) => number.toInt
    case (JInt(number), LongType) => number.toLong
    case (JDouble(number), DoubleType) => number
    case (JBool(flag), BooleanType) => flag
    case (JString(text), TimestampType) => java.sql.Timestamp.from(java.time.OffsetDateTime.parse(text).toInstant)
    case (JArray(items), ArrayType(element, _)) => items.map(value(_, element))
    case (JString(text), StringType) => text
    case (other, StringType) => String.valueOf(other.values)
    case (other, wanted) => throw new IllegalArgumentException(s"The control plane sent $other for a $wanted")
  }
}
