package org.apache.spark.sql.colocate.doris.keys

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.evidence.delta.{DeltaIndexes, DeltaTables, SortedTags, TableNames}
import org.apache.spark.sql.colocate.Json.formats
import org.apache.spark.sql.colocate.declared.{DeltaLayout, GroupProperties, KeyDeclaration, KeyProperties, RowModel}
import org.apache.spark.sql.colocate.layout.BucketColumn
import org.apache.spark.sql.colocate.{ColocateException, Json}
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.types.StructType

/**
 * AGGREGATE KEY or UNIQUE KEY of a Delta table, as in Doris: queries see one row for each key, whatever was loaded.
 *
 * @param model      `aggregate` or `unique`
 * @param keys       names of the key columns
 * @param aggregates how the values of rows with equal keys become one, by column. UNIQUE KEY has none: each value is
 *                   that of the row that was loaded last
 */
case class KeyModel(model: String, keys: Seq[String], aggregates: Map[String, String]) extends RowModel {

  def isKey(column: String): Boolean = keys.exists(_.equalsIgnoreCase(column))

  def isUnique: Boolean = model == KeyModel.Unique

  /** Is the column a key, or does it have an aggregation? */
  def hasPlaceFor(column: String): Boolean = isKey(column) || named(column).isDefined

  /** The aggregate function of a value column. table: for the error. */
  def aggregateOf(column: String, table: => String): String = named(column).getOrElse(
    throw new ColocateException("KEY_MODEL_COLUMN",
      s"Cannot read $table: it has $clause, and its column $column, which a session without the extension has added, " +
        "has no aggregation there. RESTORE the table to a version without the column."))

  private def named(column: String): Option[String] =
    if (isUnique) Some(KeyModel.Replace)
    else aggregates.collectFirst { case (name, function) if name.equalsIgnoreCase(column) => function }

  override def propertiesOf(columns: Seq[String]): Map[String, String] = {
    val kept = aggregates.filter { case (name, _) => columns.exists(_.equalsIgnoreCase(name)) }
    val functions = if (isUnique) Map.empty else Map(KeyProperties.Aggregates -> Json.write(kept))
    Map(KeyProperties.Model -> model, KeyProperties.Keys -> keys.mkString(", ")) ++ functions
  }

  /** Does the order of the loads matter? */
  def replaces: Boolean = isUnique || aggregates.values.exists(_.startsWith(KeyModel.Replace))

  override def sortedTag: (String, String) = SortedTags.of(keys)

  override def loadTags: Map[String, String] = SortedTags.ofLoad(keys)

  override def ofLoad(
      query: LogicalPlan, schema: StructType, table: String, buckets: Option[(Seq[Expression], Int)]): LogicalPlan =
    LastRowOfLoad(this, schema, table).of(query, buckets)

  override def refuseNewColumns(table: String, loaded: Seq[String]): Unit =
    KeyModelProperties.refuseNewColumns(table, this, loaded)

  override def refuseOtherColumns(table: String, columns: Seq[String]): Unit =
    KeyModelProperties.refuseOtherColumns(table, this, columns)

  override def refuseOptions(session: SparkSession, table: LogicalPlan, options: Map[String, String]): Unit =
    RefuseValueFilters(session).checkOptions(table, this, options)

  /** As Doris writes it. */
  def clause: String = s"${model.toUpperCase(java.util.Locale.ROOT)} KEY (${keys.mkString(", ")})"
}

object KeyModel {

  val Unique = "unique"
  val Aggregate = "aggregate"
  val Replace = "REPLACE"

  /**
   * The model in properties of a CREATE; those of a table prove nothing. None for tables whose rows stay as they were
   * loaded; DUPLICATE KEY is among them.
   */
  def declaredBy(properties: Map[String, String]): Option[KeyModel] =
    KeyProperties.modelIn(properties).filter(Set(Unique, Aggregate)).map { model =>
      val functions = GroupProperties.value(properties, KeyProperties.Aggregates)
        .flatMap(text => Try(Json.parse(text).extract[Map[String, String]]).toOption)
      KeyModel(model, KeyProperties.keysIn(properties), functions.getOrElse(Map.empty))
    }

  def of(relation: LogicalRelation): Option[KeyModel] = relation.relation match {
    case files: HadoopFsRelation => of(files, TableNames.of(relation))
    case _ => None
  }

  def of(files: HadoopFsRelation, table: => String): Option[KeyModel] = {
    val columns = files.partitionSchema.fieldNames
    if (!DeltaIndexes.isDeltaIndex(files.location) || !isBucketed(columns)) None
    else declaredBy(declaration(
      table, DeltaIndexes.schemaOf(files), DeltaIndexes.propertiesOf(files), columns.toSeq))
  }

  def of(table: Table): Option[KeyModel] = declaredBy(declaration(table))

  /** The model's properties as CREATE has checked them. Empty without a model, and for a table without buckets. */
  def declaration(table: Table): Map[String, String] =
    if (!DeltaTables.isDelta(table) || !isBucketed(table.columns().map(_.name))) Map.empty
    else declaration(
      table.name.stripPrefix("spark_catalog."),
      DeltaTables.snapshotSchema(table),
      table.properties().asScala.toMap,
      DeltaLayout.partitionColumns(table.partitioning().toSeq))

  /** Only of a table that CREATE has given buckets: elsewhere the properties may be any user's. */
  private def declaration(
      table: => String,
      schema: StructType,
      properties: Map[String, String],
      partitions: Seq[String]): Map[String, String] =
    KeyDeclaration.of(schema).getOrElse(UndeclaredModel.of(table, schema, properties, partitions))

  private def isBucketed(columns: Array[String]): Boolean = columns.contains(BucketColumn.Name)

  /** The model of the table that a statement changes. */
  def ofTarget(target: LogicalPlan): Option[KeyModel] = target.collectFirst {
    case relation: DataSourceV2Relation => of(relation.table)
    case relation: LogicalRelation => of(relation)
  }.flatten
}
