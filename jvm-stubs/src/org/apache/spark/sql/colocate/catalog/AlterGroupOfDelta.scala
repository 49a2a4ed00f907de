package org.apache.spark.sql.colocate.catalog

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.columns.{BucketColumn, HiddenColumns, RangeColumn}
import org.apache.spark.sql.colocate.evidence.delta.DeltaTables
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
    TableSpec.ofDelta(DeltaStatement.name(session, ident), table, layout, properties, location).facts
  }

  /** Our keys in lower case; an empty group is dropped. */
  def normalized: Seq[TableChange] = changes.map {
    case set: SetProperty if isOurs(set.property()) =>
      val key = set.property().toLowerCase(java.util.Locale.ROOT)
      if (key == GroupProperties.Group && set.value().trim.isEmpty) TableChange.removeProperty(key)
      else TableChange.setProperty(key, set.value().trim)
    case unset: RemoveProperty if isOurs(unset.property()) =>
      TableChange.removeProperty(unset.property().toLowerCase(java.util.Locale.ROOT))
    case other => other
  }

  private def name: String = DeltaStatement.shown(session, ident)

  /** The expression that Delta computes partitions by would not follow. */
  def refuseRangeProperties(): Unit = if (DeltaTables.rangesOf(table).isDefined) changes.foreach {
    case set: SetProperty if RangeProperties.isOne(set.property()) => RangeProperties.refuseAlter(name, set.property())
    case unset: RemoveProperty if RangeProperties.isOne(unset.property()) =>
      RangeProperties.refuseAlter(name, unset.property())
    case _ =>
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
    DeltaTables.rangesOf(table).toSeq.flatMap(_ => RangeProperties.columns(table.properties().asScala.toMap))

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

  private def isOurs(key: String): Boolean = GroupProperties.mentions(Seq(key))

  private def without(properties: Map[String, String], key: String): Map[String, String] =
    if (isOurs(key)) properties.filterNot(_._1.equalsIgnoreCase(key)) else properties - key
}

object AlterGroupOfDelta {

  def concerns(changes: Seq[TableChange]): Boolean = changes.exists {
    case set: SetProperty => isOurs(set.property())
    case unset: RemoveProperty => isOurs(unset.property())
    case _: RenameColumn | _: UpdateColumnType | _: DeleteColumn | _: AddColumn => true
    case other => KeyModelProperties.dropsRowTracking(other) || isLiquid(other)
  }

  /** CLUSTER BY, a change of Delta's own; also CLUSTER BY NONE, which Delta refuses for a partitioned table. */
  private def isLiquid(change: TableChange): Boolean = change match {
    case liquid: Product => liquid.productPrefix == "ClusterBy"
    case _ => false
  }

  private def isOurs(key: String): Boolean =
    GroupProperties.mentions(Seq(key)) || RangeProperties.isOne(key) || KeyModelProperties.isFixed(key)
}
