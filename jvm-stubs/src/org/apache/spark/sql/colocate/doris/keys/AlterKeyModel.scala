package org.apache.spark.sql.colocate.doris.keys

import scala.util.{Failure, Success, Try}

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.declared.{ColumnSpec, DeltaLayout, KeyProperties, TableName}
import org.apache.spark.sql.colocate.evidence.delta.DeltaTables
import org.apache.spark.sql.colocate.layout.{HiddenColumns, RangeColumn}
import org.apache.spark.sql.connector.catalog.{Identifier, Table}

/**
 * ALTER TABLE of the properties of a key model. The table's schema declares the model, so the properties may only
 * become what it says; a session without the extension may have changed them. Those of DUPLICATE KEY only sort files.
 *
 * @param after all properties after the statement
 */
private[keys] class AlterKeyModel(session: SparkSession, ident: Identifier, table: Table, after: Map[String, String]) {

  def refuseOthers(key: String): Unit = Try(KeyModel.declaration(table)) match {
    case Success(declared) if declared.isEmpty =>
      if (KeyProperties.only(after).nonEmpty) refuse(key, "no key model", "its rows were loaded without one")
    case Success(declared) if KeyProperties.isOrderOnly(declared) =>
      if (!KeyProperties.isOrderOnly(after)) refuse(key, "DUPLICATE KEY", "it keeps all rows that were loaded")
      checked
    case Success(declared) =>
      if (!Try(KeyProperties.only(checked)).toOption.contains(declared))
        refuse(key, KeyModel.declaredBy(declared).get.clause, "its rows were loaded for this model")
    // An earlier version has made the table, and it can't be read with the properties that it has.
    case Failure(_) => if (KeyProperties.only(after).nonEmpty) checked
  }

  /** As CREATE checks them. */
  private def checked: Map[String, String] = {
    val shown = DeltaLayout.partitionColumns(table.partitioning().toSeq).filterNot(HiddenColumns.contains)
    KeyModelProperties.declared(
      session,
      TableName.of(session, ident),
      ColumnSpec.of(HiddenColumns.visible(table.columns().toSeq)),
      DeltaTables.layoutOf(session, table).toSeq.flatMap(_.keys),
      shown ++ RangeColumn.columns(session, DeltaTables.snapshotSchema(table)),
      after,
      always = true)
  }

  private def refuse(key: String, clause: String, why: String): Nothing =
    KeyModelProperties.refuse(TableName.shown(session, ident), clause, s"set or unset '$key'", why)
}
