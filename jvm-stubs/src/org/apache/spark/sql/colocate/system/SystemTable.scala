package org.apache.spark.sql.colocate.system

import java.util
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.Row
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.bridge.LocalRows
import org.apache.spark.sql.colocate.compat.SchemaOfColumns
import org.apache.spark.sql.connector.catalog.CatalogV2Util.structTypeToV2Columns
import org.apache.spark.sql.connector.catalog.{Column, SupportsRead, Table, TableCapability}
import org.apache.spark.sql.connector.read.{Scan, ScanBuilder, SupportsPushDownRequiredColumns}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/**
 * A read-only view of what the control plane and the tables' own metadata know.
 *
 * @param lines computes the rows when they are read, given the columns that the query reads: what is expensive (row
 *              counts from footers, file listings) is computed only for a query that names it
 */
class SystemTable(title: String, schema: StructType, lines: Set[String] => Seq[Map[String, Any]])
    extends SupportsRead with SchemaOfColumns {

  override def name(): String = s"system.$title"
  override def columns(): Array[Column] = structTypeToV2Columns(schema)
  override def capabilities(): util.Set[TableCapability] = Set(TableCapability.BATCH_READ).asJava

  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder =
    new ScanBuilder with SupportsPushDownRequiredColumns {
      private var wanted = schema
      override def pruneColumns(required: StructType): Unit = wanted = required
      override def build(): Scan = {
        val names = wanted.fieldNames.toSeq
        new LocalRows(wanted, lines(names.toSet).map(line => Row.fromSeq(names.map(line))))
      }
    }
}

/**
 * A table of namespace `system`, from any current database.
 *
 * @param lines its rows, given the columns that the query reads
 */
case class SystemView(
    name: String, schema: StructType, lines: (SparkSession, Set[String]) => Seq[Map[String, Any]]) {

  /** @param shown as the query spells it */
  def table(shown: String): Table = new SystemTable(shown, schema, lines(SparkSession.active, _))
}
