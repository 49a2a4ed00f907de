package org.apache.spark.sql.colocate.write

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkException
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.classic
import org.apache.spark.sql.classic.{Dataset, SparkSession}
import org.apache.spark.sql.colocate.declared.{DeclaredRanges, DeltaLayout, KeyProperties, RowModels}
import org.apache.spark.sql.colocate.layout.{BucketColumn, RangeColumn}
import org.apache.spark.sql.colocate.write.overwrite.{OverwriteMode, UserPartitions}
import org.apache.spark.sql.colocate.write.target.{
  BucketedTarget, BucketedWrite, FileOrder, MaterializedQuery, NamedPartitions, RangedRows, WriteByPartitionsBuckets
}
import org.apache.spark.sql.connector.catalog.SupportsWrite
import org.apache.spark.sql.connector.write._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.sources.InsertableRelation
import org.apache.spark.sql.types.{Metadata, MetadataBuilder}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/**
 * Passes the query of a CTAS, RTAS or V1 overwrite on to Delta with its rows distributed by bucket. A query for a new
 * layout gets the bucket column, and with it the generation expression: a REPLACE takes the schema from the query.
 */
class BucketingWriteBuilder(
    inner: SupportsWrite,
    info: LogicalWriteInfo,
    layout: Option[DeltaLayout],
    ranges: Option[DeclaredRanges],
    overwritten: Option[BucketedTarget],
    keep: MaterializedQuery => Unit)
    extends WriteBuilder with SupportsTruncate {

  private val options = {
    val typed = info.options.asCaseSensitiveMap().asScala.toMap
    if (layout.isEmpty && ranges.isEmpty && overwritten.isEmpty) typed
    else OverwriteMode.unshuffled(if (typed.isEmpty) optionsOfSql else typed)
  }

  // Delta's staged tables replace all rows in any case.
  override def truncate(): WriteBuilder = this

  override def build(): Write = new V1Write {
    override def toInsertableRelation(): InsertableRelation = new InsertableRelation {
      override def insert(data: DataFrame, overwrite: Boolean): Unit = {
        val session = data.sparkSession.asInstanceOf[SparkSession]
        val (query, options) =
          asOverwrite(session, stored(data.asInstanceOf[classic.DataFrame].queryExecution.analyzed))
        if (OverwriteMode.flag(options, "overwriteSchema")) overwritten.foreach(_.refuseOtherColumns(query))
        else if (OverwriteMode.evolves(options, SQLConf.get)) overwritten.foreach(_.refuseWiderKeys(query))
        else overwritten.foreach(_.refuseUnknown(query))
        innerRelation(options).insert(Dataset.ofRows(session, laidOut(session, query)), overwrite)
      }
    }
  }

  private def innerRelation(options: Map[String, String]): InsertableRelation = {
    val changed = LogicalWriteInfoImpl(
      info.queryId, info.schema, new CaseInsensitiveStringMap(options.asJava), info.rowIdSchema, info.metadataSchema)
    inner.newWriteBuilder(changed).build().asInstanceOf[V1Write].toInsertableRelation()
  }

  /** OPTIONS of a statement are among the table's properties. Delta takes them only where a write has none itself. */
  private def optionsOfSql: Map[String, String] = {
    val prefix = "option."
    inner.properties().asScala.toMap.collect {
      case (key, value) if key.startsWith(prefix) => key.stripPrefix(prefix) -> value
    }
  }

  /** A dynamic overwrite counts the user's partition columns only. */
  private def asOverwrite(session: SparkSession, query: LogicalPlan): (LogicalPlan, Map[String, String]) =
    overwritten.filter(_ => OverwriteMode.isDynamic(options, SQLConf.get)).fold(query -> options) { target =>
      if (target.userPartitions.isEmpty) query -> OverwriteMode.static(options)
      else {
        val kept = new MaterializedQuery(session, target.prepared(query))
        keep(kept)
        kept.plan -> OverwriteMode.where(options, UserPartitions.of(target, kept.rows).getOrElse("false"))
      }
    }

  /** A statement with a layout of its own takes the keys' types from the query. */
  private def stored(query: LogicalPlan): LogicalPlan =
    overwritten.filter(_ => layout.isEmpty && ranges.isEmpty).fold(query)(KeysAsStored(query, _))

  private def laidOut(session: SparkSession, query: LogicalPlan): LogicalPlan =
    if (layout.isEmpty && ranges.isEmpty) overwritten.map(_.byBucket(query)).getOrElse(query)
    else {
      val rows = ranges.flatMap(rangedRows(session, query, _))
      val checked = rows.fold(query)(_.checked(query))
      val partition = rows.flatMap(_.partitionOf(query.output)).map(KnownNotNull(_))
      val range = for (value <- partition; declared <- ranges)
        yield generated(value, RangeColumn.Name, declared.expression)
      val rowsByBucket = byBucket(session, ofKeys(checked), query, partition)
      Project(query.output ++ range ++ layout.map(bucket(session, query, _)), rowsByBucket)
    }

  /** As few rows as the new table's key model asks for. */
  private def ofKeys(query: LogicalPlan): LogicalPlan =
    layout.flatMap(l => RowModels().declaredBy(l.model)).fold(query) { model =>
      val buckets = layout.filter(_ => numbers.isEmpty).map(l => keysOf(query, l) -> l.buckets)
      model.ofLoad(query, query.schema, inner.name.stripPrefix("spark_catalog."), buckets)
    }

  private def rangedRows(session: SparkSession, query: LogicalPlan, ranges: DeclaredRanges): Option[RangedRows] =
    RangedRows.of(
      session, inner.name.stripPrefix("spark_catalog."), ranges.expression, query.schema, ranges.entries)

  private def byBucket(
      session: SparkSession, checked: LogicalPlan, query: LogicalPlan, range: Option[Expression]): LogicalPlan =
    layout.fold(checked) { l =>
      val partitions = NamedPartitions.columns(inner).filter(_ != BucketColumn.Name)
      val sorted = KeyProperties.sortColumns(l.model, l.model)
      val order = FileOrder.of(sorted, query.schema, query.output, partitions, range)
      if (numbers.isEmpty) BucketedWrite.over(checked, keysOf(query, l), l.buckets, order)
      else {
        val most = (l.buckets +: ranges.toSeq.flatMap(_.entries).flatMap(_.buckets)).max
        WriteByPartitionsBuckets.over(checked, bucketId(session, query, l), most, order)
      }
    }

  private def bucket(session: SparkSession, query: LogicalPlan, layout: DeltaLayout): NamedExpression =
    generated(bucketId(session, query, layout), BucketColumn.Name, layout.expression(ranges), layout.declaration)

  private def bucketId(session: SparkSession, query: LogicalPlan, layout: DeltaLayout): Expression = {
    val number = numbers.map { text =>
      RangeColumn.resolve(session, text, query.schema).flatMap(RangeColumn.over(_, named(query, _))).getOrElse(
        throw SparkException.internalError(s"The query of ${inner.name} lacks a column of $text"))
    }
    BucketColumn.idOf(keysOf(query, layout), number.getOrElse(Literal(layout.buckets)))
  }

  /** What gives the number of buckets of a row's partition, where partitions have different ones. */
  private def numbers: Option[String] = ranges.flatMap(_.buckets)

  private def named(query: LogicalPlan, column: String): Option[Attribute] =
    query.output.find(a => SQLConf.get.resolver(a.name, column))

  private def keysOf(query: LogicalPlan, layout: DeltaLayout): Seq[Attribute] =
    layout.keys.map(named(query, _).get)

  private def generated(
      value: Expression, name: String, text: String, more: Metadata = Metadata.empty): NamedExpression =
    Alias(value, name)(explicitMetadata = Some(
      new MetadataBuilder().withMetadata(more).putString(BucketColumn.GenerationKey, text).build()))
}
