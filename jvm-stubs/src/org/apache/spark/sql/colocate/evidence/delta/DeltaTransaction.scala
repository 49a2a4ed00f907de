package org.apache.spark.sql.colocate.evidence.delta

import org.apache.spark.sql.catalyst.expressions.{AttributeReference, EqualTo, Expression, Literal}
import org.apache.spark.sql.colocate.compat.hooks.{DeltaHooks, SelfCheck}
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.types.{StringType, StructType}

/**
 * A commit of our own on a Delta table: a new schema and properties, and files that are removed with them. It starts
 * at the table's newest version. Delta refuses it, if another commit changed the metadata or wrote into these files'
 * partitions meanwhile; nothing is changed then.
 */
class DeltaTransaction(table: Table) {
  import DeltaReflection.{call, companion}

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

  /** @param removed what `files` has found */
  def commit(schema: StructType, properties: Map[String, String], removed: Seq[AnyRef]): Unit = {
    method(transaction, "updateMetadata", 2)
      .invoke(transaction, changed(schema, properties), Boolean.box(false))
    method(transaction, "commit", 2)
      .invoke(transaction, removed.map(call(_, "remove")), companion("DeltaOperations$ManualUpdate"))
  }

  private def changed(schema: StructType, properties: Map[String, String]): AnyRef = {
    val values = (1 to 8).map {
      case 5 => schema.json
      case 7 => properties
      case i => call(metadata, s"copy$$default$$$i")
    }
    method(metadata, "copy", values.size).invoke(metadata, values: _*)
  }

  private def method(target: AnyRef, name: String, arguments: Int) =
    target.getClass.getMethods.find(m => m.getName == name && m.getParameterCount == arguments).get
}
