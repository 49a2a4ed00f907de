package org.apache.spark.sql.colocate.evidence.delta

import java.lang.reflect.InvocationTargetException

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.{AttributeReference, EqualTo, Expression, Literal}
import org.apache.spark.sql.colocate.compat.hooks.{DeltaHooks, SelfCheck}
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.types.{StringType, StructType}
import org.apache.spark.sql.{DataFrame, Dataset}

/**
 * A commit of our own on a Delta table: a new schema and properties, with files that are removed; or files that take
 * the place of others. It starts at the table's newest version. Delta refuses it, if another commit changed the
 * metadata or these files meanwhile; nothing is changed then.
 */
class DeltaTransaction(table: Table) {
  import DeltaReflection.{call, companion, method, tagsOf}
  import DeltaTransaction.copied

  SelfCheck.require(table.name, DeltaHooks.Commit)

  private val transaction: AnyRef =
    table.getClass.getMethod("startTransaction", classOf[Option[_]]).invoke(table, None)

  private val metadata: AnyRef = call(transaction, "metadata")

  val schema: StructType = call(metadata, "schema").asInstanceOf[StructType]

  val properties: Map[String, String] = call(metadata, "configuration").asInstanceOf[Map[String, String]]

  /** The table's files with this value of a text partition column. */
  def files(column: String, value: String): Seq[AnyRef] = {
    val filter = EqualTo(AttributeReference(column, StringType)(), Literal(value))
    method(transaction, "filterFiles", 2)
      .invoke(transaction, Seq[Expression](filter), Boolean.box(false)).asInstanceOf[Seq[AnyRef]]
  }

  /** Changes schema and properties with what is committed next; before anything is written. */
  def change(schema: StructType, properties: Map[String, String]): Unit =
    method(transaction, "updateMetadata", 2)
      .invoke(transaction, changed(schema, properties), Boolean.box(false))

  /** @param removed what `files` has found */
  def commit(schema: StructType, properties: Map[String, String], removed: Seq[AnyRef]): Unit = {
    change(schema, properties)
    method(transaction, "commit", 2)
      .invoke(transaction, removed.map(call(_, "remove")), companion("DeltaOperations$ManualUpdate"))
  }

  /** All files of the table, as Delta's AddFile. */
  def files: Seq[AnyRef] = method(transaction, "filterFiles", 0).invoke(transaction).asInstanceOf[Seq[AnyRef]]

  /** The rows of some files, as a command of Delta's reads them. */
  def read(files: Seq[AnyRef]): DataFrame = {
    val log = call(transaction, "deltaLog")
    method(log, "createDataFrame", 4)
      .invoke(log, call(transaction, "snapshot"), files, Boolean.box(false), None).asInstanceOf[DataFrame]
  }

  /** Runs a block whose plans Delta takes for this transaction's own. */
  def active[A](block: => A): A = {
    val all = companion("OptimisticTransaction")
    method(all, "withActive", 3).invoke(all, transaction, Boolean.box(false), () => block).asInstanceOf[A]
  }

  /** Writes files that are not part of the table before `replace`. */
  def write(rows: DataFrame): Seq[AnyRef] =
    transaction.getClass.getMethod("writeFiles", classOf[Dataset[_]]).invoke(transaction, rows)
      .asInstanceOf[Seq[AnyRef]]

  /** Commits new files in the place of old ones that had the same rows, as OPTIMIZE does. */
  def replace(removed: Seq[AnyRef], added: Seq[AnyRef], tags: (String, String)*): Unit = {
    val now = Long.box(System.currentTimeMillis())
    val gone = removed.map(file => method(file, "removeWithTimestamp", 2).invoke(file, now, Boolean.box(false)))
    val moved = added.map(file => copied(file, 5 -> Boolean.box(false), 7 -> (tagsOf(file) ++ tags)))
    method(transaction, "commit", 2)
      .invoke(transaction, gone ++ moved, companion("DeltaOperations$ManualUpdate"))
  }

  private def changed(schema: StructType, properties: Map[String, String]): AnyRef =
    copied(metadata, 5 -> schema.json, 7 -> properties)
}

object DeltaTransaction {
  import DeltaReflection.{call, tagsOf}

  /** An AddFile with one more tag. */
  private[delta] def tagged(file: AnyRef, tags: Map[String, String]): AnyRef = copied(file, 7 -> (tagsOf(file) ++ tags))

  /**
   * A case class with other values of some of its fields.
   *
   * @param fields by number. AddFile: 5 dataChange, 7 tags. Metadata: 5 schema, 7 properties
   */
  private def copied(action: AnyRef, fields: (Int, AnyRef)*): AnyRef = {
    val copy = action.getClass.getMethods.filter(_.getName == "copy").maxBy(_.getParameterCount)
    val others = fields.toMap
    val values = (1 to copy.getParameterCount).map(i => others.getOrElse(i, call(action, s"copy$$default$$$i")))
    copy.invoke(action, values: _*)
  }

  /** Delta's own error, for example of a commit that came in between, instead of reflection's. */
  def passingOn[T](work: => T): T =
    try work catch { case e: InvocationTargetException => throw cause(e) }

  @tailrec private def cause(error: Throwable): Throwable = error match {
    case call: InvocationTargetException => cause(call.getCause)
    case other => other
  }
}
