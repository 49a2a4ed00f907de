package org.apache.spark.sql.colocate.write

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, V2WriteCommand}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.catalog.KeyModelProperties
import org.apache.spark.sql.colocate.columns.{BucketColumn, HiddenColumns}
import org.apache.spark.sql.colocate.evidence.BucketLayout
import org.apache.spark.sql.colocate.evidence.delta.DeltaTables
import org.apache.spark.sql.colocate.keys.{KeyModel, LastRowOfLoad, TableNames}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

/** A Delta table with buckets, range partitions or both, and maybe a key model, that a statement writes to. */
case class BucketedTarget(
    relation: DataSourceV2Relation,
    layout: Option[BucketLayout],
    ranges: Option[RangedRows],
    model: Option[KeyModel]) {

  /** The partition columns that the user declared; range partitions are one, though no column that is shown. */
  lazy val userPartitions: Seq[String] = NamedPartitions.columns(relation.table).filter(_ != BucketColumn.Name)

  /** Those of them that users see. */
  lazy val shownPartitions: Seq[String] = userPartitions.filterNot(HiddenColumns.contains)

  /** Are these the user's partition columns, in their order? Upper and lower case count as the session says. */
  def isPartitionedBy(columns: Seq[String]): Boolean =
    columns.size == shownPartitions.size && columns.zip(shownPartitions).forall(relation.conf.resolver.tupled)

  /** The bucket keys among a query's columns, as the table's types; None if the query lacks one. */
  private def keysIn(layout: BucketLayout, columns: Seq[Attribute]): Option[Seq[Expression]] = {
    val resolver = relation.conf.resolver
    val keys = layout.keys.zip(layout.keyTypes).flatMap { case (key, keyType) =>
      columns.find(c => resolver(c.name, key)).map(HiddenColumns.asStored(_, keyType))
    }
    Option.when(keys.size == layout.keys.size)(keys)
  }

  /** The query's rows by bucket, each in a range partition; a query that lacks a key stays as it is. */
  def byBucket(query: LogicalPlan): LogicalPlan = {
    val checked = prepared(query)
    val keys = layout.flatMap(l => keysIn(l, query.output).map(l -> _))
    keys.fold(checked) { case (l, by) =>
      val order = orderOf(query.output)
      SortedLoads.mark(BucketedWrite.over(checked, by, l, order), order)
    }
  }

  /** The query's rows, each in a range partition, and as few as the table's key model asks for. */
  def prepared(query: LogicalPlan): LogicalPlan = {
    refuseNewColumns(query)
    val checked = ranges.fold(query)(_.checked(query))
    model.fold(checked)(LastRowOfLoad(_, DeltaTables.snapshotSchema(relation.table)).of(checked, bucketsOf(query)))
  }

  /** Fails where schema evolution would add a column that the key model has no place for. */
  def refuseNewColumns(query: LogicalPlan): Unit =
    model.foreach(KeyModelProperties.refuseNewColumns(TableNames.of(relation), _, query.output.map(_.name)))

  /** Fails where a query that also replaces the columns leaves the key model without one. */
  def refuseOtherColumns(query: LogicalPlan): Unit =
    model.foreach(KeyModelProperties.refuseOtherColumns(TableNames.of(relation), _, query.output.map(_.name)))

  def orderOf(columns: Seq[Attribute]): FileOrder = FileOrder.of(
    relation.table.properties().asScala.toMap, DeltaTables.snapshotSchema(relation.table), columns, userPartitions,
    ranges.flatMap(_.partitionOf(columns)))

  /** None if a row's partition decides how many there are. */
  private def bucketsOf(query: LogicalPlan): Option[(Seq[Expression], Int)] =
    layout.filter(_.partitions.isEmpty).flatMap(l => keysIn(l, query.output).map(_ -> l.buckets))
}

object BucketedTarget {

  def of(session: SparkSession, write: V2WriteCommand): Option[BucketedTarget] = write.table match {
    case relation: DataSourceV2Relation => of(session, relation)
    case _ => None
  }

  def of(session: SparkSession, relation: DataSourceV2Relation): Option[BucketedTarget] = {
    val layout = DeltaTables.layoutOf(session, relation.table)
    val ranges = RangedRows.of(session, relation.table).map(_.copy(only = NamedPartitions.of(relation)))
    Option.when(layout.isDefined || ranges.isDefined) {
      BucketedTarget(relation, layout, ranges, KeyModel.of(relation.table))
    }
  }
}
