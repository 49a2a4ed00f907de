package org.apache.spark.sql.colocate.doris.keys

import scala.util.Try

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.declared.{ColumnSpec, RowModel, RowModels}
import org.apache.spark.sql.connector.catalog.{Identifier, Table, TableChange}

/** The key models, for the core: META-INF/services names it. */
class KeyModels extends RowModels {

  override def declaredBy(properties: Map[String, String]): Option[RowModel] = KeyModel.declaredBy(properties)

  override def declaration(table: Table): Map[String, String] = KeyModel.declaration(table)

  override def declares(properties: Map[String, String]): Boolean = KeyModelProperties.declares(properties)

  override def checked(
      session: SparkSession,
      table: TableIdentifier,
      columns: Seq[ColumnSpec],
      bucketKeys: Seq[String],
      partitions: Seq[String],
      properties: Map[String, String],
      always: Boolean): Map[String, String] =
    KeyModelProperties.declared(session, table, columns, bucketKeys, partitions, properties, always)

  override def concerns(change: TableChange): Boolean = KeyModelProperties.dropsRowTracking(change)

  override def refuseChanges(name: String, table: Table, changes: Seq[TableChange]): Unit =
    KeyModelProperties.refuseChanges(name, Try(KeyModel.of(table)).toOption.flatten, changes)

  override def refuseProperty(
      session: SparkSession, ident: Identifier, table: Table, after: Map[String, String], key: String): Unit =
    new AlterKeyModel(session, ident, table, after).refuseOthers(key)

  override def refuseInCopy(table: String, key: String): Unit =
    KeyModelProperties.refuse(table, "the source's key model", s"set '$key'", "it has the source's columns")

  /** Delta gives the rows of a clone new numbers, in no certain order. */
  override def refuseClone(name: String, declaration: Map[String, String]): Unit =
    KeyModel.declaredBy(declaration).filter(_.replaces).foreach { model =>
      throw new ColocateException("KEY_MODEL_CLONE",
        s"Cannot clone into $name: the source has ${model.clause}, and a clone does not know which row of a key was " +
          s"loaded last. CREATE TABLE $name LIKE the source, and INSERT INTO $name SELECT * FROM the source.")
    }

  override def refuseFormat(table: String, properties: Map[String, String], format: String): Unit =
    if (KeyModel.declaredBy(properties).isDefined) KeyModelProperties.refuseFormat(table, format)
}
