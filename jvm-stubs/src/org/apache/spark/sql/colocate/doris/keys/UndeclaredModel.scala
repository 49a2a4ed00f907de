package org.apache.spark.sql.colocate.doris.keys

import scala.util.{Failure, Success, Try}

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.declared.{ColumnSpec, KeyProperties}
import org.apache.spark.sql.colocate.layout.{BucketColumn, HiddenColumns, RangeColumn, Recent}
import org.apache.spark.sql.types.StructType

/**
 * The key model of a table that an earlier version has made, whose schema has no declaration. Its properties count if
 * CREATE TABLE would take them. If not, what the loads were meant for is not known, and no reading of the rows is
 * certain.
 */
private[keys] object UndeclaredModel {

  private val checked = new Recent[(Map[String, String], StructType, Seq[String]), Map[String, String]]

  /** @param partitions all partition columns, hidden ones included */
  def of(
      table: => String,
      schema: StructType,
      properties: Map[String, String],
      partitions: Seq[String]): Map[String, String] =
    if (!KeyModelProperties.declares(properties)) Map.empty
    else if (KeyProperties.isOrderOnly(properties)) KeyProperties.only(properties) // only an order
    else {
      val declared = KeyProperties.only(properties)
      checked.getOrElse((declared, schema, partitions)) {
        Try(asAtCreate(schema, declared, partitions)) match {
          case Success(model) => KeyProperties.only(model)
          case Failure(refusal: ColocateException) if refusal.getCondition == "KEY_MODEL_INVALID" =>
            refuse(table, refusal)
          case Failure(other) => throw other
        }
      }
    }

  private def asAtCreate(
      schema: StructType, properties: Map[String, String], partitions: Seq[String]): Map[String, String] = {
    val session = SparkSession.active
    KeyModelProperties.declared(
      session,
      TableIdentifier("table", Some("the")),
      ColumnSpec.of(HiddenColumns.without(schema)),
      BucketColumn.layoutOf(session, schema).toSeq.flatMap(_.keys),
      partitions.filterNot(HiddenColumns.contains) ++ RangeColumn.columns(session, schema),
      properties)
  }

  private def refuse(table: String, refusal: ColocateException): Nothing =
    throw new ColocateException("KEY_MODEL_UNDECLARED",
      s"Cannot read $table: an earlier version has made it, so only its properties say whether rows with equal keys " +
        s"are one, and CREATE TABLE would refuse them (${refusal.getMessage}). ALTER TABLE ... SET TBLPROPERTIES to " +
        "what the table was created with; or UNSET them, if it was created without a key model.")
}
