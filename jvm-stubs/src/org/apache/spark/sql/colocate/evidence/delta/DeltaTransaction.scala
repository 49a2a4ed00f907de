package org.apache.spark.sql.colocate.evidence.delta

import org.apache.spark.sql.colocate.compat.delta.{FileRewrites, OpenTransactions, TableFile}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, EqualTo, Literal}
import org.apache.spark.sql.colocate.compat.hooks.{DeltaHooks, SelfCheck}
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.types.{StringType, StructType}

/**
 * A commit of our own on a Delta table: a new schema and properties, with files that are removed; or files that take
 * the place of others. It starts at the table's newest version. Delta refuses it, if another commit changed the
 * metadata or these files meanwhile; nothing is changed then.
 */
class DeltaTransaction(table: Table) {

  SelfCheck.require(table.name, DeltaHooks.Commit)

  private val open = OpenTransactions.on(table)

  def schema: StructType = open.schema

  def properties: Map[String, String] = open.properties

  /** The table's files with this value of a text partition column. */
  def files(column: String, value: String): Seq[TableFile] =
    open.files(EqualTo(AttributeReference(column, StringType)(), Literal(value)))

  /** Changes schema and properties with what is committed next; before anything is written. */
  def change(schema: StructType, properties: Map[String, String]): Unit = open.change(schema, properties)

  /** @param removed what `files` has found */
  def commit(schema: StructType, properties: Map[String, String], removed: Seq[TableFile]): Unit = {
    change(schema, properties)
    open.commitRemoval(removed)
  }

  /** All files of the table. */
  def files: Seq[TableFile] = FileRewrites.files(open)

  /** The rows of some files, as a command of Delta's reads them. */
  def read(files: Seq[TableFile]): DataFrame = FileRewrites.read(open, files)

  /** Runs a block whose plans Delta takes for this transaction's own. */
  def active[A](block: => A): A = FileRewrites.active(open)(block)

  /** Writes files that are not part of the table before `replace`. */
  def write(rows: DataFrame): Seq[TableFile] = FileRewrites.write(open, rows)

  /** Commits new files in the place of old ones that had the same rows, as OPTIMIZE does. */
  def replace(removed: Seq[TableFile], added: Seq[TableFile], tags: (String, String)*): Unit =
    FileRewrites.replace(open, removed, added, tags.toMap)
}
