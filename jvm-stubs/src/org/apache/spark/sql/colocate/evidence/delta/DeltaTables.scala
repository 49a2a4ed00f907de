package org.apache.spark.sql.colocate.evidence.delta

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.compat.delta.{DeltaClasses, TableSnapshots}
import org.apache.spark.sql.colocate.compat.hooks.{DeltaHooks, SelfCheck, SparkHooks}
import org.apache.spark.sql.colocate.layout.{BucketColumn, BucketLayout, RangeColumn}
import org.apache.spark.sql.colocate.rules.ExtensionOrder
import org.apache.spark.sql.connector.catalog.CatalogV2Implicits._
import org.apache.spark.sql.connector.catalog.{Identifier, Table}
import org.apache.spark.sql.types.{StructField, StructType}

/** Delta's table in the catalog. */
object DeltaTables {

  /** A table of the session catalog, as Delta has it. */
  def load(session: SparkSession, ident: Identifier): Table =
    session.sessionState.catalogManager.v2SessionCatalog.asTableCatalog.loadTable(ident)

  def isDelta(table: Table): Boolean = DeltaClasses.is(table, DeltaClasses.Table)

  /**
   * The layout of a bucketed Delta table. It is read from the table's snapshot, because the schema that the table shows
   * is stripped of generation expressions. For a table without the bucket column this only looks at its columns.
   */
  def layoutOf(session: SparkSession, table: Table): Option[BucketLayout] =
    if (isDelta(table) && table.columns().exists(_.name == BucketColumn.Name)) {
      checkHooks(table)
      BucketColumn.layoutOf(session, snapshotSchema(table))
    } else {
      None
    }

  /** The text that gives a row's range partition; None for a table without range partitions. */
  def rangesOf(table: Table): Option[String] =
    if (isDelta(table) && table.columns().exists(_.name == RangeColumn.Name)) {
      checkHooks(table)
      RangeColumn.expressionOf(snapshotSchema(table))
    } else {
      None
    }

  /** Does a table have columns that users do not see? */
  def hidesColumns(session: SparkSession, table: Table): Boolean =
    layoutOf(session, table).isDefined || rangesOf(table).isDefined

  private def checkHooks(table: Table): Unit = {
    SelfCheck.require(table.name, DeltaHooks.Table, DeltaHooks.PathWrite)
    if (ExtensionOrder.isMisplaced) SelfCheck.require(table.name, SparkHooks.RuleLists)
  }

  /** The SQL text that a generated column's values are computed by. */
  def generationOf(table: Table, column: String): Option[String] =
    fieldOf(table, column).flatMap(BucketColumn.generation)

  /** A column as the snapshot has it, its DEFAULT included. */
  def fieldOf(table: Table, column: String): Option[StructField] = snapshotSchema(table).find(_.name == column)

  private[colocate] def snapshotSchema(table: Table): StructType = TableSnapshots.of(table).schema
}
