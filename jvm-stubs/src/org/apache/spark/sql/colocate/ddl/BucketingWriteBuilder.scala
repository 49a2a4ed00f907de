package org.apache.spark.sql.colocate.ddl

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.classic
import org.apache.spark.sql.classic.{Dataset, SparkSession}
import org.apache.spark.sql.colocate.layout.BucketColumn
import org.apache.spark.sql.colocate.write.{BucketedTarget, BucketedWrite, KeysAsStored, OverwriteMode, UserPartitions}
import org.apache.spark.sql.connector.catalog.SupportsWrite
import org.apache.spark.sql.connector.write._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.sources.InsertableRelation
import org.apache.spark.sql.types.MetadataBuilder
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.storage.StorageLevel

/**
 * Passes the query of a CTAS, RTAS or V1 overwrite on to Delta with its rows laid out by bucket. A query for a new
 * layout gets the bucket column, and with it the generation expression: a REPLACE takes the schema from the query.
 */
class BucketingWriteBuilder(
    inner: SupportsWrite,
    info: LogicalWriteInfo,
    layout: Option[DeltaLayout],
    overwritten: Option[BucketedTarget],
    keep: classic.DataFrame => Unit)
    extends WriteBuilder with SupportsTruncate {

  private val options = info.options.asCaseSensitiveMap().asScala.toMap

  // Delta's staged tables replace all rows in any case.
  override def truncate(): WriteBuilder = this

  override def build(): Write = new V1Write {
    override def toInsertableRelation(): InsertableRelation = new InsertableRelation {
      override def insert(data: DataFrame, overwrite: Boolean): Unit = {
        val rows = stored(data.asInstanceOf[classic.DataFrame])
        innerRelation(optionsFor(rows)).insert(bucketed(rows), overwrite)
      }
    }
  }

  private def innerRelation(options: Map[String, String]): InsertableRelation = {
    val changed = LogicalWriteInfoImpl(
      info.queryId, info.schema, new CaseInsensitiveStringMap(options.asJava), info.rowIdSchema, info.metadataSchema)
    inner.newWriteBuilder(changed).build().asInstanceOf[V1Write].toInsertableRelation()
  }

  /** A dynamic overwrite counts the user's partition columns only (traps S1.1). */
  private def optionsFor(rows: classic.DataFrame): Map[String, String] =
    overwritten.filter(_ => OverwriteMode.isDynamic(options, SQLConf.get)).fold(options) { target =>
      if (target.userPartitions.isEmpty) OverwriteMode.static(options)
      else {
        keep(rows.persist(StorageLevel.MEMORY_AND_DISK))
        OverwriteMode.where(options, UserPartitions.of(target, rows).getOrElse("false"))
      }
    }

  /** A statement with a layout of its own takes the keys' types from the query. */
  private def stored(rows: classic.DataFrame): classic.DataFrame =
    overwritten.filter(_ => layout.isEmpty).fold(rows) { target =>
      over(rows, KeysAsStored(rows.queryExecution.analyzed, target))
    }

  private def bucketed(rows: classic.DataFrame): classic.DataFrame = {
    val query = rows.queryExecution.analyzed
    over(rows, layout.map(withBucket(query, _)).orElse(overwritten.map(_.byBucket(query))).getOrElse(query))
  }

  private def over(rows: classic.DataFrame, plan: LogicalPlan): classic.DataFrame =
    Dataset.ofRows(rows.sparkSession.asInstanceOf[SparkSession], plan)

  private def withBucket(query: LogicalPlan, layout: DeltaLayout): LogicalPlan = {
    val keys = layout.keys.map(key => query.output.find(a => SQLConf.get.resolver(a.name, key)).get)
    val metadata = new MetadataBuilder()
      .putString(BucketColumn.GenerationKey, BucketColumn.sql(layout.keys, layout.buckets)).build()
    val id = BucketedWrite.bucketId(keys, layout.buckets)
    val bucket = Alias(id, BucketColumn.Name)(explicitMetadata = Some(metadata))
    Project(query.output :+ bucket, BucketedWrite.over(query, keys, layout.buckets))
  }
}
