package org.apache.spark.sql.colocate.declared

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.Services
import org.apache.spark.sql.connector.catalog.{Identifier, Table, TableChange}

/** Knows the models of tables, and what DDL may do to them. Found as a service; without one, no table has a model. */
trait RowModels {

  /** The model in properties of a CREATE; those of a table prove nothing. None if rows stay as they were loaded. */
  def declaredBy(properties: Map[String, String]): Option[RowModel]

  /** The model's properties as CREATE has checked them. Empty without a model, and for a table without buckets. */
  def declaration(table: Table): Map[String, String]

  /** Do properties name a model that we know? Another value may be any user's. */
  def declares(properties: Map[String, String]): Boolean

  /**
   * The model's properties as the control plane has checked them; its error if they are wrong.
   *
   * @param always has the table buckets? Then a property alone, and a model that we do not know, are errors, too
   */
  def checked(
      session: SparkSession,
      table: TableIdentifier,
      columns: Seq[ColumnSpec],
      bucketKeys: Seq[String],
      partitions: Seq[String],
      properties: Map[String, String],
      always: Boolean): Map[String, String]

  /** May the change be one that a model refuses, though it changes neither columns nor properties of ours? */
  def concerns(change: TableChange): Boolean

  /** Fails for a change after which the table's rows could not be read by its model. */
  def refuseChanges(name: String, table: Table, changes: Seq[TableChange]): Unit

  /**
   * Fails for a change of a model's property that would say something else than the table's schema does.
   *
   * @param after all properties after the statement
   */
  def refuseProperty(
      session: SparkSession, ident: Identifier, table: Table, after: Map[String, String], key: String): Unit

  /** Fails for a model's property in a statement that copies a table: the copy has the columns, and so the model. */
  def refuseInCopy(table: String, key: String): Unit

  /** Fails for a clone of a table with this declaration, if a clone would not have the same rows. */
  def refuseClone(name: String, declaration: Map[String, String]): Unit

  /** Fails for a table of this format, if the properties declare a model. */
  def refuseFormat(table: String, properties: Map[String, String], format: String): Unit

  final def of(table: Table): Option[RowModel] = declaredBy(declaration(table))
}

private[colocate] object RowModels {

  private lazy val found: RowModels = Services.of(classOf[RowModels]).headOption.getOrElse(NoRowModels)

  /** Those of this jar. */
  def apply(): RowModels = found
}

private object NoRowModels extends RowModels {
  override def declaredBy(properties: Map[String, String]): Option[RowModel] = None
  override def declaration(table: Table): Map[String, String] = Map.empty
  override def declares(properties: Map[String, String]): Boolean = false
  override def checked(
      session: SparkSession,
      table: TableIdentifier,
      columns: Seq[ColumnSpec],
      bucketKeys: Seq[String],
      partitions: Seq[String],
      properties: Map[String, String],
      always: Boolean): Map[String, String] = Map.empty
  override def concerns(change: TableChange): Boolean = false
  override def refuseChanges(name: String, table: Table, changes: Seq[TableChange]): Unit = ()
  override def refuseProperty(
      session: SparkSession, ident: Identifier, table: Table, after: Map[String, String], key: String): Unit = ()
  override def refuseInCopy(table: String, key: String): Unit = ()
  override def refuseClone(name: String, declaration: Map[String, String]): Unit = ()
  override def refuseFormat(table: String, properties: Map[String, String], format: String): Unit = ()
}
