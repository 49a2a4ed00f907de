package org.apache.spark.sql.colocate.catalog

import java.util

import org.apache.spark.sql.colocate.compat.SchemaOfColumns
import org.apache.spark.sql.colocate.declared.{DeclaredRanges, DeltaLayout}
import org.apache.spark.sql.colocate.layout.HiddenColumns
import org.apache.spark.sql.colocate.write.BucketingWriteBuilder
import org.apache.spark.sql.colocate.write.target.{BucketedTarget, MaterializedQuery}
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.write.{LogicalWriteInfo, WriteBuilder}

/**
 * A staged Delta table that Spark sees with the user's columns only.
 *
 * @param inner       Delta's staged table, made from the schema with the bucket column
 * @param layout      None when the statement names no buckets
 * @param ranges      None when the statement names no range partitions
 * @param overwritten the bucketed table whose rows alone a V1 writer overwrites
 * @param ticket      the statement's reservation in the registry
 * @param written     the table as it is after the commit
 */
class ColocatedStagedTable(
    inner: StagedTable,
    layout: Option[DeltaLayout],
    ranges: Option[DeclaredRanges],
    overwritten: Option[BucketedTarget],
    ticket: Ticket,
    written: () => Option[Table])
    extends StagedTable with SupportsWrite with SchemaOfColumns {

  /** Rows that were computed to find their partitions, kept for the write. */
  private var kept: Option[MaterializedQuery] = None

  override def name(): String = inner.name()
  override def columns(): Array[Column] = HiddenColumns.visible(inner.columns().toSeq).toArray
  override def partitioning(): Array[Transform] = inner.partitioning()
  override def properties(): util.Map[String, String] = inner.properties()
  override def capabilities(): util.Set[TableCapability] = inner.capabilities()
  override def reportDriverMetrics(): Array[CustomTaskMetric] = inner.reportDriverMetrics()

  override def commitStagedChanges(): Unit = {
    ticket.hold()
    inner.commitStagedChanges()
    release()
    try if (ranges.isDefined) written().foreach(RangeCommit.requirePartition) finally ticket.commit(None)
  }

  override def abortStagedChanges(): Unit =
    try inner.abortStagedChanges()
    finally {
      release()
      ticket.abort()
    }

  override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder =
    new BucketingWriteBuilder(
      inner.asInstanceOf[SupportsWrite], info, layout, ranges, overwritten, rows => kept = Some(rows))

  private def release(): Unit = {
    kept.foreach(_.release())
    kept = None
  }
}
