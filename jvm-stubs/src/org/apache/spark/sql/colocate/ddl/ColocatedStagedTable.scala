package org.apache.spark.sql.colocate.ddl

import java.util

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.classic.{Dataset, SparkSession}
import org.apache.spark.sql.colocate.layout.BucketColumn
import org.apache.spark.sql.colocate.write.BucketedWrite
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.write._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.sources.InsertableRelation
import org.apache.spark.sql.types.MetadataBuilder

/**
 * A staged Delta table that Spark sees with the user's columns only. The query of a CTAS or RTAS gets the bucket column
 * here, on its way to Delta, and with it the generation expression: a REPLACE takes the schema from the query.
 *
 * @param inner  Delta's staged table, made from the schema with the bucket column
 * @param layout None when the new table has no buckets (it may still leave a group by being replaced)
 * @param ticket the registry's side of the statement
 */
class ColocatedStagedTable(inner: StagedTable, layout: Option[DeltaLayout], ticket: Ticket)
    extends StagedTable with SupportsWrite {

  override def name(): String = inner.name()
  override def columns(): Array[Column] = layout.fold(inner.columns())(_ =>
    inner.columns().filterNot(_.name == BucketColumn.Name))
  override def partitioning(): Array[Transform] = inner.partitioning()
  override def properties(): util.Map[String, String] = inner.properties()
  override def capabilities(): util.Set[TableCapability] = inner.capabilities()
  override def reportDriverMetrics(): Array[CustomTaskMetric] = inner.reportDriverMetrics()

  override def commitStagedChanges(): Unit = {
    inner.commitStagedChanges()
    ticket.commit()
  }

  override def abortStagedChanges(): Unit = try inner.abortStagedChanges() finally ticket.abort()

  override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder = {
    val builder = inner.asInstanceOf[SupportsWrite].newWriteBuilder(info)
    layout.fold(builder)(new BucketingWriteBuilder(builder, _))
  }
}

/** Passes the query on with its bucket column, and with its rows laid out so that a task holds one bucket. */
private class BucketingWriteBuilder(inner: WriteBuilder, layout: DeltaLayout) extends WriteBuilder with SupportsTruncate {

  override def truncate(): WriteBuilder = inner match {
    case truncating: SupportsTruncate => new BucketingWriteBuilder(truncating.truncate(), layout)
    case _ => this
  }

  override def build(): Write = {
    val write = inner.build().asInstanceOf[V1Write]
    new V1Write {
      override def toInsertableRelation(): InsertableRelation = new InsertableRelation {
        override def insert(data: DataFrame, overwrite: Boolean): Unit =
          write.toInsertableRelation().insert(bucketed(data), overwrite)
      }
    }
  }

  private def bucketed(data: DataFrame): DataFrame = {
    val session = data.sparkSession.asInstanceOf[SparkSession]
    val query = data.queryExecution.asInstanceOf[org.apache.spark.sql.execution.QueryExecution].analyzed
    val keys = layout.keys.map(key => query.output.find(a => SQLConf.get.resolver(a.name, key)).get)
    val metadata = new MetadataBuilder()
      .putString(BucketColumn.GenerationKey, BucketColumn.sql(layout.keys, layout.buckets)).build()
    val bucket = Alias(BucketedWrite.bucketId(keys, layout.buckets), BucketColumn.Name)(explicitMetadata = Some(metadata))
    Dataset.ofRows(session, Project(query.output :+ bucket, BucketedWrite.over(query, keys, layout.buckets)))
  }
}
