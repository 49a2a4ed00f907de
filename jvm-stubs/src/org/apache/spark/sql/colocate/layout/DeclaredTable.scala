package org.apache.spark.sql.colocate.layout

import java.util

import org.apache.spark.sql.colocate.compat.SchemaOfColumns
import org.apache.spark.sql.connector.catalog.{Column, Table, TableCapability}
import org.apache.spark.sql.connector.expressions.Transform

/** A bucketed Delta table as its CREATE statement declared it; only for DESCRIBE and SHOW. */
class DeclaredTable(table: Table) extends SchemaOfColumns {
  override def name(): String = table.name()
  override def toString: String = name()
  override def properties(): util.Map[String, String] = table.properties()
  override def capabilities(): util.Set[TableCapability] = table.capabilities()
  override def columns(): Array[Column] = HiddenColumns.visible(table.columns().toSeq).toArray
  override def partitioning(): Array[Transform] =
    table.partitioning().filterNot(_.references().exists(_.fieldNames() match {
      case Array(name) => HiddenColumns.contains(name)
      case _ => false
    }))
}
