package org.apache.spark.sql.colocate.declared

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.types.StructType

/** How a Delta table combines the rows that are loaded into it: AGGREGATE KEY and UNIQUE KEY are such models. */
trait RowModel {

  /** The properties, as CREATE takes them, of a table that has of its value columns only these. */
  def propertiesOf(columns: Seq[String]): Map[String, String]

  /** The tag, in Delta's log, of a file whose rows are in the order of all keys. */
  def sortedTag: (String, String)

  /** The tags of such a file of one load. */
  def loadTags: Map[String, String]

  /**
   * The rows of a load, as few as the model asks for.
   *
   * @param schema  the table's columns
   * @param table   its name, for errors
   * @param buckets the bucket keys and the number of buckets, so that the write needs no shuffle of its own; None if a
   *                row's partition decides how many there are
   */
  def ofLoad(
      query: LogicalPlan, schema: StructType, table: String, buckets: Option[(Seq[Expression], Int)]): LogicalPlan

  /** Fails for a load with columns that the table does not have: schema evolution would add them. */
  def refuseNewColumns(table: String, loaded: Seq[String]): Unit

  /** Fails for rows that replace a table and its columns, if the model has no place for these: `overwriteSchema`. */
  def refuseOtherColumns(table: String, columns: Seq[String]): Unit

  /** Fails for options of a writer that would replace rows by their loaded values, as `replaceWhere` may. */
  def refuseOptions(session: SparkSession, table: LogicalPlan, options: Map[String, String]): Unit
}
