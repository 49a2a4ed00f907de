package org.apache.spark.sql.colocate.keys

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.catalog.GroupProperties
import org.apache.spark.sql.colocate.columns.BucketColumn
import org.apache.spark.sql.colocate.conf.Json
import org.apache.spark.sql.colocate.conf.Json.formats
import org.apache.spark.sql.colocate.evidence.delta.{DeltaReflection, DeltaTables, SortedTags}
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}

/**
 * AGGREGATE KEY or UNIQUE KEY of a Delta table, as in Doris: queries see one row for each key, whatever was loaded.
 *
 * @param model      `aggregate` or `unique`
 * @param keys       names of the key columns
 * @param aggregates how the values of rows with equal keys become one, by column. UNIQUE KEY has none: each value is
 *                   that of the row that was loaded last
 */
case class KeyModel(model: String, keys: Seq[String], aggregates: Map[String, String]) {

  def isKey(column: String): Boolean = keys.exists(_.equalsIgnoreCase(column))

  def isUnique: Boolean = model == KeyModel.Unique

  /** Is the column a key, or does it have an aggregation? */
  def hasPlaceFor(column: String): Boolean = isKey(column) || named(column).isDefined

  /** The aggregate function of a value column. */
  def aggregateOf(column: String): String = named(column).getOrElse(
    throw new ColocateException("KEY_MODEL_COLUMN",
      s"Cannot read the table of column $column: it has $clause, and the column, which a session without the " +
        "extension has added, has no aggregation there. RESTORE the table to a version without the column."))

  private def named(column: String): Option[String] =
    if (isUnique) Some(KeyModel.Replace)
    else aggregates.collectFirst { case (name, function) if name.equalsIgnoreCase(column) => function }

  /** Does the order of the loads matter? */
  def replaces: Boolean = isUnique || aggregates.values.exists(_.startsWith(KeyModel.Replace))

  /** Of a file that is sorted by the keys. */
  def sortedTag: (String, String) = SortedTags.of(keys)

  /** Of such a file of one load. */
  def loadTags: Map[String, String] = SortedTags.ofLoad(keys)

  /** As Doris writes it. */
  def clause: String = s"${model.toUpperCase(java.util.Locale.ROOT)} KEY (${keys.mkString(", ")})"
}

object KeyModel {

  val Model = "key_model"
  val Keys = "key_columns"
  val Aggregates = "value_aggregates"

  val Unique = "unique"
  val Aggregate = "aggregate"
  val Replace = "REPLACE"

  val properties: Seq[String] = Seq(Model, Keys, Aggregates)

  def isProperty(key: String): Boolean = properties.exists(_.equalsIgnoreCase(key))

  /** None for tables whose rows stay as they were loaded; DUPLICATE KEY is among them. */
  def of(properties: Map[String, String]): Option[KeyModel] =
    GroupProperties.value(properties, Model).filter(Set(Unique, Aggregate)).map { model =>
      // A session without the extension may have changed the text. Then no column has an aggregation.
      val functions = GroupProperties.value(properties, Aggregates)
        .flatMap(text => Try(Json.parse(text).extract[Map[String, String]]).toOption)
      KeyModel(model, keyColumns(properties), functions.getOrElse(Map.empty))
    }

  /** The columns by which each file of a table with a key model is sorted; empty for any other table. */
  def sortColumns(properties: Map[String, String]): Seq[String] =
    if (GroupProperties.value(properties, Model).isDefined) keyColumns(properties) else Nil

  private def keyColumns(properties: Map[String, String]): Seq[String] =
    GroupProperties.value(properties, Keys).toSeq.flatMap(_.split(",")).map(_.trim).filter(_.nonEmpty)

  /** Only a table that CREATE has given buckets: elsewhere the properties may be any user's. */
  def of(relation: LogicalRelation): Option[KeyModel] = relation.relation match {
    case files: HadoopFsRelation
        if DeltaReflection.isDeltaIndex(files.location) && isBucketed(files.partitionSchema.fieldNames) =>
      of(DeltaReflection.propertiesOf(files))
    case _ => None
  }

  def of(table: Table): Option[KeyModel] =
    if (DeltaTables.isDelta(table) && isBucketed(table.columns().map(_.name))) of(table.properties().asScala.toMap)
    else None

  private def isBucketed(columns: Array[String]): Boolean = columns.contains(BucketColumn.Name)

  /** Of the table that a statement changes. */
  def ofTarget(target: LogicalPlan): Option[KeyModel] = target.collectFirst {
    case relation: DataSourceV2Relation => of(relation.table)
    case relation: LogicalRelation => of(relation)
  }.flatten
}
