package org.apache.spark.sql.colocate.catalog

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.declared.{
  ColumnSpec, DeltaLayout, GroupProperties, KeyProperties, RangeProperties, ReservedProperties, RowModels, TableName,
  TableSpec
}
import org.apache.spark.sql.colocate.evidence.delta.DeltaTables
import org.apache.spark.sql.colocate.layout.{BucketColumn, HiddenColumns, RangeColumn}
import org.apache.spark.sql.connector.catalog.TableChange._
import org.apache.spark.sql.connector.catalog.{Identifier, Table, TableCatalog, TableChange}

/** ALTER TABLE of a Delta table that joins, changes or leaves a group, or changes the columns of its layout. */
class AlterGroupOfDelta(session: SparkSession, ident: Identifier, table: Table, changes: Seq[TableChange]) {

  private val layout = DeltaTables.layoutOf(session, table)

  private lazy val properties: Map[String, String] =
    changes.foldLeft(table.properties().asScala.toMap) {
      case (now, set: SetProperty) => without(now, set.property()) + (set.property() -> set.value())
      case (now, unset: RemoveProperty) => without(now, unset.property())
      case (now, _) => now
    }

  /** The group after the statement; an empty text means none. */
  def group: Option[String] = GroupProperties.group(properties)

  def facts: Seq[(String, Any)] = {
    val location = Option(table.properties().get(TableCatalog.PROP_LOCATION))
    TableSpec.ofDelta(TableName.of(session, ident), table, layout, properties, location).facts
  }

  /** Our keys as they are spelled in conf/properties.json; an empty group is dropped. */
  def normalized: Seq[TableChange] = changes.map {
    case set: SetProperty if isOurs(set.property()) =>
      val key = ReservedProperties.of(set.property()).get.name
      if (key == GroupProperties.Group && set.value().trim.isEmpty) TableChange.removeProperty(key)
      else TableChange.setProperty(key, set.value().trim)
    case unset: RemoveProperty if isOurs(unset.property()) =>
      TableChange.removeProperty(ReservedProperties.of(unset.property()).get.name)
    case other => other
  }

  private def name: String = TableName.shown(session, ident)

  /** Fails for properties of a table with hidden columns that would say something else than its schema does. */
  def refuseProperties(): Unit = if (hidesColumns) {
    named.foreach(ReservedProperties.refuseInAlter(name, _))
    named.find(RangeProperties.isOne).filterNot(_ => areRangesAsDeclared).foreach(RangeProperties.refuseAlter(name, _))
    if (layout.isDefined)
      named.find(KeyProperties.isProperty).foreach(RowModels().refuseProperty(session, ident, table, properties, _))
  }

  private def hidesColumns: Boolean = layout.isDefined || DeltaTables.rangesOf(table).isDefined

  private def named: Seq[String] = changes.collect {
    case set: SetProperty => set.property()
    case unset: RemoveProperty => unset.property()
  }

  /** Delta's writers compute partitions by an expression, which would not follow other properties. */
  private def areRangesAsDeclared: Boolean = DeltaTables.rangesOf(table) match {
    case None => !RangeProperties.mentions(properties.keys)
    case Some(expression) =>
      val buckets = layout.map(l => DeltaLayout(l.keys, l.declared))
      val columns = ColumnSpec.of(HiddenColumns.visible(table.columns().toSeq))
      Try(RangeProperties.declared(session, TableName.of(session, ident), columns, buckets, properties))
        .toOption.flatten.exists(_.expression == expression)
  }

  /** Delta refuses to change a column that a generated column uses; our error also says what to do. */
  def refuseBrokenLayout(): Unit = if (layout.isDefined || rangeColumns.nonEmpty) {
    changes.foreach {
      case column: ColumnChange => refuseChange(column)
      case other => if (AlterGroupOfDelta.isLiquid(other)) refuseLiquid()
    }
  }

  private def refuseLiquid(): Nothing = throw new ColocateException("LIQUID_CLUSTERING",
    s"Cannot cluster $name with CLUSTER BY: it has ${if (layout.isDefined) "buckets" else "range partitions"}, and " +
      "liquid clustering moves rows between files. CREATE TABLE ... CLUSTER BY (...) AS SELECT * FROM " +
      s"$name makes a clustered copy, which is in no group.")

  private lazy val rangeColumns: Seq[String] =
    if (DeltaTables.rangesOf(table).isEmpty) Nil
    else RangeColumn.columns(session, DeltaTables.snapshotSchema(table))

  private def refuseChange(change: ColumnChange): Unit = {
    val column = change.fieldNames().head
    def isOneOf(names: Seq[String]) = change.fieldNames().length == 1 && names.exists(_.equalsIgnoreCase(column))
    change match {
      case _: RenameColumn | _: UpdateColumnType | _: DeleteColumn if isOneOf(layout.toSeq.flatMap(_.keys)) =>
        throw refused(column, "it is a bucket key, and the files are laid out by its values")
      case _: RenameColumn | _: UpdateColumnType | _: DeleteColumn if isOneOf(rangeColumns) =>
        throw refused(column, "it is a range column, and the files are laid out by its values")
      case rename: RenameColumn if HiddenColumns.isReserved(rename.newName) =>
        throw refused(column, s"the table has a hidden column ${rename.newName}, or may get one")
      case _ if column.equalsIgnoreCase(BucketColumn.Name) =>
        throw refused(column, "it holds the bucket id that Delta computes")
      case _ if column.equalsIgnoreCase(RangeColumn.Name) =>
        throw refused(column, "it holds the range partition that Delta computes")
      case _ =>
    }
  }

  private def refused(column: String, why: String): ColocateException =
    new ColocateException("KEY_COLUMN_FIXED",
      s"Cannot change column $column of $name: $why. " +
        s"CREATE OR REPLACE TABLE $name ... CLUSTERED BY ... AS SELECT ... FROM $name writes the rows anew.")

  private def isOurs(key: String): Boolean = ReservedProperties.of(key).exists(_.kind != "tracking")

  private def without(properties: Map[String, String], key: String): Map[String, String] =
    if (isOurs(key)) properties.filterNot(_._1.equalsIgnoreCase(key)) else properties - key
}

object AlterGroupOfDelta {

  def concerns(changes: Seq[TableChange]): Boolean = changes.exists {
    case set: SetProperty => isOurs(set.property()) || set.property() == TableCatalog.PROP_LOCATION
    case unset: RemoveProperty => isOurs(unset.property())
    case _: RenameColumn | _: UpdateColumnType | _: DeleteColumn | _: AddColumn => true
    case other => RowModels().concerns(other) || isLiquid(other)
  }

  /** CLUSTER BY, a change of Delta's own; also CLUSTER BY NONE, which Delta refuses for a partitioned table. */
  private def isLiquid(change: TableChange): Boolean = change match {
    case liquid: Product => liquid.productPrefix == "ClusterBy"
    case _ => false
  }

  private def isOurs(key: String): Boolean = ReservedProperties.of(key).isDefined
}
