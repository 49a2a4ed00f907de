package org.apache.spark.sql.colocate.admin

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{Row, SparkSession => AnySession}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.util.{escapeSingleQuotedString, CharVarcharUtils, QuotingUtils}
import org.apache.spark.sql.catalyst.util.ResolveDefaultColumnsUtils.CURRENT_DEFAULT_COLUMN_METADATA_KEY
import org.apache.spark.sql.colocate.layout.{BucketColumn, BucketLayout, DeltaReflection}
import org.apache.spark.sql.connector.catalog.{CatalogV2Util, Table, TableCatalog}
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.types.StructField

/** SHOW CREATE TABLE of a bucketed Delta table: a statement that makes the table again. Delta itself has no such. */
case class ShowCreateClustered(name: String, table: Table, layout: BucketLayout, override val output: Seq[Attribute])
    extends LeafRunnableCommand {

  private val Identity = "delta.identity."

  // What Delta derives from the rest of the statement, or counts for itself.
  private val derived =
    Set("delta.minReaderVersion", "delta.minWriterVersion", "delta.columnMapping.maxColumnId") ++
      Seq("appendOnly", "invariants", "generatedColumns", "identityColumns").map("delta.feature." + _)
  private val derivedPrefixes = Seq("delta.rowTracking.materialized", TableCatalog.OPTION_PREFIX)

  override def run(sparkSession: AnySession): Seq[Row] = Seq(Row(statement))

  override def simpleString(maxFields: Int): String = s"ShowCreateClustered $name"

  private def statement: String = {
    val snapshot = DeltaReflection.snapshotOfTable(table)
    val columns = CharVarcharUtils.getRawSchema(BucketColumn.without(snapshot.schema)).map(column)
    val partitions = snapshot.partitionSchema.fieldNames.filterNot(_ == BucketColumn.Name)
    val properties = table.properties().asScala.toMap
    val clauses = Seq(
      Some(s"CREATE TABLE $name ${block(columns)}"),
      Some("USING delta"),
      Option.when(partitions.nonEmpty)(s"PARTITIONED BY ${names(partitions.toSeq)}"),
      Some(s"CLUSTERED BY ${names(layout.keys)}"),
      Some(s"INTO ${layout.buckets} BUCKETS"),
      properties.get(TableCatalog.PROP_COMMENT).map(text => s"COMMENT ${quoted(text)}"),
      Option.when(!properties.contains(TableCatalog.PROP_IS_MANAGED_LOCATION))(
        s"LOCATION ${quoted(properties(TableCatalog.PROP_LOCATION))}"),
      tableProperties(properties))
    clauses.flatten.mkString("", "\n", "\n")
  }

  private def column(field: StructField): String = {
    def meta(key: String) = Option.when(field.metadata.contains(key))(field.metadata.getString(key))
    val parts = Seq(
      Some(s"${QuotingUtils.quoteIfNeeded(field.name)} ${field.dataType.sql}"),
      Option.when(!field.nullable)("NOT NULL"),
      meta(BucketColumn.GenerationKey).map(expression => s"GENERATED ALWAYS AS ($expression)"),
      identity(field),
      meta(CURRENT_DEFAULT_COLUMN_METADATA_KEY).map(value => s"DEFAULT $value"),
      field.getComment().map(text => s"COMMENT ${quoted(text)}"))
    parts.flatten.mkString(" ")
  }

  private def identity(field: StructField): Option[String] =
    Option.when(field.metadata.contains(s"${Identity}start")) {
      val kind = if (field.metadata.getBoolean(s"${Identity}allowExplicitInsert")) "BY DEFAULT" else "ALWAYS"
      val (start, step) = (field.metadata.getLong(s"${Identity}start"), field.metadata.getLong(s"${Identity}step"))
      s"GENERATED $kind AS IDENTITY (START WITH $start INCREMENT BY $step)"
    }

  private def tableProperties(properties: Map[String, String]): Option[String] = {
    val shown = properties.toSeq.sorted.collect {
      case (key, value)
          if !CatalogV2Util.TABLE_RESERVED_PROPERTIES.contains(key) && !derived(key) &&
            !derivedPrefixes.exists(key.startsWith) =>
        s"${quoted(key)} = ${quoted(value)}"
    }
    Option.when(shown.nonEmpty)(s"TBLPROPERTIES ${block(shown)}")
  }

  private def quoted(text: String): String = s"'${escapeSingleQuotedString(text)}'"
  private def names(columns: Seq[String]): String = columns.map(QuotingUtils.quoteIfNeeded).mkString("(", ", ", ")")
  private def block(lines: Iterable[String]): String = lines.mkString("(\n  ", ",\n  ", ")")
}
