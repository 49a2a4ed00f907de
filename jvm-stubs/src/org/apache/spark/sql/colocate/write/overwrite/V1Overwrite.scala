package org.apache.spark.sql.colocate.write.overwrite

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.catalog.DeltaLayout
import org.apache.spark.sql.colocate.write.BucketedTarget
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

/**
 * `df.write.format("delta").mode("overwrite").saveAsTable(t)` reaches the catalog as a REPLACE, although Delta only
 * overwrites rows and keeps the table's properties. The difference is in the write options, which the catalog does not
 * see when it stages the table; CarryWriterOptions puts a mark among the properties, and the catalog takes it off.
 */
object V1Overwrite {

  val Mark = "colocate.v1Overwrite"

  def isMarked(info: TableInfo): Boolean = info.properties().containsKey(Mark)

  def unmarked(info: TableInfo): TableInfo =
    if (!isMarked(info)) info
    else DeltaLayout.rebuilt(info, info.columns(), info.partitions(), (info.properties().asScala.toMap - Mark).asJava)

  def target(session: SparkSession, tables: TableCatalog, ident: Identifier, table: Table): Option[BucketedTarget] =
    BucketedTarget.of(session, DataSourceV2Relation.create(table, Some(tables), Some(ident)))
}
