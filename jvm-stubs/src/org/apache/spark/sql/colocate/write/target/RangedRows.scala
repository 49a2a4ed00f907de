package org.apache.spark.sql.colocate.write.target

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.spark.sql.catalyst.SQLConfHelper
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.declared.{RangeEntry, RangeProperties}
import org.apache.spark.sql.colocate.evidence.delta.{DeltaClauses, DeltaIndexes, DeltaTables}
import org.apache.spark.sql.colocate.layout.RangeColumn
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelationWithTable}
import org.apache.spark.sql.types.{StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

/**
 * The range partitions of a table that a statement writes to.
 *
 * @param expression gives a row's partition, over columns by the names of the table's schema
 * @param partitions as the table's property lists them; only for messages
 * @param only       the partitions that the statement names, spelled as the table's; empty if it names none
 */
case class RangedRows(
    table: String, expression: Expression, partitions: Seq[RangeEntry], only: Seq[String] = Nil)
    extends SQLConfHelper {

  /** The partition of a query's rows; None if the query lacks a range column: then Delta alone checks it. */
  def partitionOf(columns: Seq[Attribute]): Option[Expression] = RangeColumn.over(expression, named(columns, _))

  /** The query, which fails where a row belongs to no partition, or to none that the statement names. */
  def checked(query: LogicalPlan): LogicalPlan = partitionOf(query.output).fold(unchecked(query)) { partition =>
    val values = columnNames.flatMap(named(query.output, _))
    val refusal = RangeRefusal(table, partitions, only)
    Filter(RowInSomeRange(partition, values.map(RowInSomeRange.shown), columnNames, refusal), query)
  }

  /**
   * The partition of a row with these values, which fails for one of no partition. None without a value for each range
   * column. UPDATE and MERGE compute it for the rows that they change and for no others.
   */
  def checkedPartition(value: String => Option[Expression]): Option[Expression] = {
    val stored = columns.flatMap(c => value(c.name).flatMap(DeltaClauses.stored(_, c.dataType)).map(c.name -> _)).toMap
    RangeColumn.over(expression, stored.get).map { partition =>
      val shown = columns.map(c => RowInSomeRange.shown(stored(c.name)))
      val refusal = RangeRefusal(table, partitions, only)
      val check = RowInSomeRange(partition, shown, columnNames, refusal, repeatable = true)
      // Two branches that are alike would be simplified away with the check: a constant of no partition gives null.
      If(check, partition, Literal(""))
    }
  }

  def columnNames: Seq[String] = columns.map(_.name)

  /** The names as the table spells them; an error for one that is not there. */
  def named(wanted: Seq[String]): Seq[String] = wanted.map { name =>
    names.find(_.equalsIgnoreCase(name)).getOrElse(throw new ColocateException("RANGE_PARTITION_UNKNOWN",
      s"There is no range partition $name of $table, and no partition column of this name (partitions: " +
        s"${names.mkString(", ")}). Name one of these partitions."))
  }.distinct

  /** The partitions, lowest range first. The expression's only strings are their names, highest first. */
  private def names: Seq[String] =
    expression.collect { case Literal(name: UTF8String, StringType) => name.toString }.distinct.reverse

  private def unchecked(query: LogicalPlan): LogicalPlan =
    if (only.isEmpty) query
    else throw new ColocateException("RANGE_OTHER_PARTITION",
      s"Cannot write to ${only.mkString(", ")} of $table: the statement gives no value of " +
        s"${columnNames.filter(named(query.output, _).isEmpty).mkString(", ")}, by which the table is " +
        s"partitioned. Give a value, or name no partition.")

  /** The range columns in the table's order. */
  private lazy val columns: Seq[AttributeReference] =
    expression.collect { case a: AttributeReference => a }.distinctBy(_.exprId).sortBy(_.exprId.id)

  private def named(columns: Seq[Attribute], name: String): Option[Attribute] =
    columns.find(c => conf.resolver(c.name, name))
}

object RangedRows {

  def of(session: SparkSession, table: Table): Option[RangedRows] =
    DeltaTables.rangesOf(table).flatMap { text =>
      val properties = table.properties().asScala.toMap
      val name = table.name().stripPrefix("spark_catalog.")
      of(session, name, text, DeltaTables.snapshotSchema(table), entries(properties))
    }

  /** The check for the table of Delta's UPDATE. */
  def of(session: SparkSession, target: LogicalPlan): Option[RangedRows] = target.collectFirst {
    case LogicalRelationWithTable(files: HadoopFsRelation, table) => of(session, files, table)
  }.flatten

  /** The check for the table of Delta's UPDATE or MERGE. */
  def of(session: SparkSession, files: HadoopFsRelation, table: Option[CatalogTable]): Option[RangedRows] =
    if (!files.partitionSchema.fieldNames.contains(RangeColumn.Name)) None
    else {
      val schema = DeltaIndexes.schemaOf(files)
      val name = table.fold(DeltaIndexes.dataPath(files.location).toString)(_.identifier.unquotedString)
      val listed = entries(DeltaIndexes.propertiesOf(files))
      RangeColumn.expressionOf(schema).flatMap(of(session, name.stripPrefix("spark_catalog."), _, schema, listed))
    }

  /** A session without the extension may have changed the property, which is needed for messages only. */
  def entries(properties: Map[String, String]): Seq[RangeEntry] =
    Try(RangeProperties.entries(properties)).getOrElse(Nil)

  def of(
      session: SparkSession,
      table: String,
      expression: String,
      schema: StructType,
      partitions: Seq[RangeEntry]): Option[RangedRows] =
    RangeColumn.resolve(session, expression, schema).map(RangedRows(table, _, partitions))
}
