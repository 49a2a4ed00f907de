package org.apache.spark.sql.colocate.write.overwrite

import java.util.UUID

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.compat.TableInfos
import org.apache.spark.sql.colocate.compat.TableInfos.TableInfo
import org.apache.spark.sql.colocate.write.target.BucketedTarget
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

/**
 * `df.write.format("delta").mode("overwrite").saveAsTable(t)` reaches the catalog as a REPLACE, although Delta only
 * overwrites rows and keeps the table's properties. The difference is in the write options, which the catalog does not
 * see when it stages the table; CarryWriterOptions puts a mark among the properties, and the catalog takes it off.
 */
object V1Overwrite {

  private val Mark = "colocate.v1Overwrite"

  /** Nobody else can type it. */
  private val Ours = UUID.randomUUID().toString

  val mark: Map[String, String] = Map(Mark -> Ours)

  def isMarked(properties: Map[String, String]): Boolean = properties.get(Mark).contains(Ours)

  def isMarked(info: TableInfo): Boolean = isMarked(info.properties().asScala.toMap)

  def unmarked(info: TableInfo): TableInfo =
    if (!isMarked(info)) info
    else TableInfos.rebuilt(info, info.columns(), info.partitions(), (info.properties().asScala.toMap - Mark).asJava)

  def target(session: SparkSession, tables: TableCatalog, ident: Identifier, table: Table): Option[BucketedTarget] =
    BucketedTarget.of(session, DataSourceV2Relation.create(table, Some(tables), Some(ident)))
}
