package org.apache.spark.sql.colocate.write.target

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.expressions.{Attribute, Cast, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, V2WriteCommand}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.declared.{KeyProperties, RowModel, RowModels}
import org.apache.spark.sql.colocate.evidence.delta.{DeltaTables, TableNames}
import org.apache.spark.sql.colocate.layout.{BucketColumn, BucketLayout, HiddenColumns}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.types.{DataType, StructField, StructType}

/** A Delta table with buckets, range partitions or both, and maybe a key model, that a statement writes to. */
case class BucketedTarget(
    relation: DataSourceV2Relation,
    layout: Option[BucketLayout],
    ranges: Option[RangedRows],
    model: Option[RowModel]) {

  /** The partition columns that the user declared; range partitions are one, though no column that is shown. */
  lazy val userPartitions: Seq[String] = NamedPartitions.columns(relation.table).filter(_ != BucketColumn.Name)

  /** Those of them that users see. */
  lazy val shownPartitions: Seq[String] = userPartitions.filterNot(HiddenColumns.contains)

  /** Are these the user's partition columns, in their order? Upper and lower case count as the session says. */
  def isPartitionedBy(columns: Seq[String]): Boolean =
    columns.size == shownPartitions.size && columns.zip(shownPartitions).forall(relation.conf.resolver.tupled)

  /** Fails for an overwrite that names other partition columns; Delta's own error would name the hidden ones. */
  def refuseOtherPartitions(named: Option[Seq[String]]): Unit = named.filterNot(isPartitionedBy).foreach { columns =>
    val has = if (shownPartitions.isEmpty) "no partition columns" else shownPartitions.mkString(", ")
    throw new ColocateException("PARTITIONS_DIFFER",
      s"Cannot write into ${TableNames.of(relation)} with partitionBy(${columns.mkString(", ")}): it has $has. Leave " +
        "partitionBy out; an overwrite by saveAsTable with option(\"overwriteSchema\", \"true\") gives the table " +
        "other partition columns, and keeps its buckets.")
  }

  /** Fails for a query with columns that the table lacks. Delta's own error would list the hidden columns, too. */
  def refuseUnknown(query: LogicalPlan): Unit = {
    val known = HiddenColumns.without(DeltaTables.snapshotSchema(relation.table))
    val loaded = StructType(query.output.map(c => StructField(c.name, c.dataType)))
    val unknown = UnknownColumns.of(HiddenColumns.without(loaded), known, relation.conf.resolver)
    if (unknown.nonEmpty) {
      throw new ColocateException("COLUMN_UNKNOWN",
        s"Cannot write ${unknown.mkString(", ")} into ${TableNames.of(relation)}: it has the columns " +
          s"${known.map(_.name).mkString(", ")}. Name or cast the columns as the table has them; or let the write " +
          "add new ones, by option(\"mergeSchema\", \"true\") or INSERT WITH SCHEMA EVOLUTION.")
    }
  }

  /** Fails where schema evolution would widen a bucket key or a range column: files are laid out by their types. */
  def refuseWiderKeys(query: LogicalPlan): Unit = {
    val keys = layout.toSeq.flatMap(l => l.keys.zip(l.keyTypes)).map { case (key, of) => (key, of, "a bucket key") }
    val fixed = keys ++ ranges.toSeq.flatMap(_.expression.references.map(c => (c.name, c.dataType, "a range column")))
    if (widens) for {
      (key, of, what) <- fixed
      column <- query.output.find(c => relation.conf.resolver(c.name, key))
    } if (isWider(column.dataType, of)) refuseWider(key, of, column.dataType, what)
  }

  private def isWider(found: DataType, stored: DataType): Boolean =
    Cast.canUpCast(stored, found) && !Cast.canUpCast(found, stored)

  private def widens: Boolean = relation.table.properties().asScala.exists { case (key, value) =>
    key.equalsIgnoreCase("delta.enableTypeWidening") && value == "true"
  }

  private def refuseWider(key: String, is: DataType, wanted: DataType, what: String): Nothing = {
    val name = TableNames.of(relation)
    throw new ColocateException("KEY_COLUMN_FIXED",
      s"Cannot change column $key of $name from ${is.sql} to ${wanted.sql} by schema evolution: it is $what, and " +
        s"the files are laid out by its values. Cast $key to ${is.sql} in the query; or CREATE OR REPLACE TABLE " +
        s"$name ... CLUSTERED BY ... AS SELECT ... FROM $name writes the rows anew.")
  }

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
    model.fold(checked) {
      _.ofLoad(checked, DeltaTables.snapshotSchema(relation.table), TableNames.of(relation), bucketsOf(query))
    }
  }

  /** Fails where schema evolution would add a column that the key model has no place for. */
  def refuseNewColumns(query: LogicalPlan): Unit =
    model.foreach(_.refuseNewColumns(TableNames.of(relation), query.output.map(_.name)))

  /** Fails where a query that also replaces the columns leaves the key model without one. */
  def refuseOtherColumns(query: LogicalPlan): Unit =
    model.foreach(_.refuseOtherColumns(TableNames.of(relation), query.output.map(_.name)))

  def orderOf(columns: Seq[Attribute]): FileOrder = FileOrder.of(
    KeyProperties.sortColumns(RowModels().declaration(relation.table), relation.table.properties().asScala.toMap),
    DeltaTables.snapshotSchema(relation.table), columns, userPartitions, ranges.flatMap(_.partitionOf(columns)))

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
      BucketedTarget(relation, layout, ranges, RowModels().of(relation.table))
    }
  }
}
