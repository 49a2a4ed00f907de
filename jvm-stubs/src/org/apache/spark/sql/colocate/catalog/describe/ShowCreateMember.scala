package org.apache.spark.sql.colocate.catalog.describe

import org.apache.spark.sql.catalyst.catalog.BucketSpec
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.util.ResolveDefaultColumnsUtils.CURRENT_DEFAULT_COLUMN_METADATA_KEY
import org.apache.spark.sql.catalyst.util.{escapeSingleQuotedString, QuotingUtils}
import org.apache.spark.sql.colocate.layout.BucketColumn
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructField
import org.apache.spark.sql.{Row, SparkSession => AnySession}

/**
 * SHOW CREATE TABLE of a table with buckets: a statement that makes the table again. Delta itself has none, and
 * Spark's own spells out UTF8_BINARY, which its ORC reader can't read.
 */
case class ShowCreateMember(table: DeclaredLayout, override val output: Seq[Attribute]) extends LeafRunnableCommand {
  override def run(sparkSession: AnySession): Seq[Row] = Seq(Row(table.statement))
  override def simpleString(maxFields: Int): String = s"ShowCreateMember ${table.name}"
}

/**
 * @param columns  the user's, with their raw types; comments, defaults and generation expressions in their metadata
 * @param location where the files are, unless the catalog chose it
 */
case class DeclaredLayout(
    name: String,
    format: String,
    columns: Seq[StructField],
    partitions: Seq[String],
    buckets: Option[BucketSpec],
    comment: Option[String],
    location: Option[String],
    options: Map[String, String],
    properties: Map[String, String]) {

  private val Identity = "delta.identity."

  def statement: String = Seq(
    Some(s"CREATE TABLE $name ${block(columns.map(column))}"),
    Some(s"USING $format"),
    Option.when(options.nonEmpty)(s"OPTIONS ${block(pairs(options))}"),
    Option.when(partitions.nonEmpty)(s"PARTITIONED BY ${names(partitions)}"),
    buckets.map(b => s"CLUSTERED BY ${names(b.bucketColumnNames)}"),
    buckets.filter(_.sortColumnNames.nonEmpty).map(b => s"SORTED BY ${names(b.sortColumnNames)}"),
    buckets.map(b => s"INTO ${b.numBuckets} BUCKETS"),
    comment.map(text => s"COMMENT ${quoted(text)}"),
    location.map(path => s"LOCATION ${quoted(path)}"),
    Option.when(properties.nonEmpty)(s"TBLPROPERTIES ${block(pairs(properties))}")).flatten.mkString("", "\n", "\n")

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

  private def pairs(values: Map[String, String]): Seq[String] =
    SQLConf.get.redactOptions(values).toSeq.sorted.map { case (key, value) => s"${quoted(key)} = ${quoted(value)}" }
  private def quoted(text: String): String = s"'${escapeSingleQuotedString(text)}'"
  private def names(columns: Seq[String]): String = columns.map(QuotingUtils.quoteIfNeeded).mkString("(", ", ", ")")
  private def block(lines: Iterable[String]): String = lines.mkString("(\n  ", ",\n  ", ")")
}
