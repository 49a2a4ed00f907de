package org.apache.spark.sql.colocate.catalog

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.declared.{TableName, TableSpec}
import org.apache.spark.sql.colocate.evidence.delta.DeltaTables
import org.apache.spark.sql.colocate.layout.HiddenColumns
import org.apache.spark.sql.connector.catalog.TableChange.SetProperty
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.types.StructType

/**
 * ALTER TABLE ... SET LOCATION of a Delta table, if it or the table in the other folder has hidden columns. Delta asks
 * for equal schemas, and would show the hidden columns.
 */
class SetLocation(session: SparkSession, ident: Identifier, table: Table, location: String, target: Table) {

  private val folder = new HeldFolder(session, location, target)

  /** The table after the statement, as the registry sees it. */
  def spec: TableSpec = folder.spec(ident)

  def refuseOthers(): Unit = {
    val now = DeltaTables.snapshotSchema(table)
    val after = DeltaTables.snapshotSchema(target)
    val (is, will) = (shown(now), shown(after))
    if (is != will) refuse(s"${name} has the columns ($is), the other one ($will)")
    val buckets = DeltaTables.layoutOf(session, table).fold("no buckets")(l => HeldFolder.clause(l.keys, l.declared))
    if (buckets != folder.buckets) refuse(s"$name has $buckets, the other one ${folder.buckets}")
    if (DeltaTables.rangesOf(table) != folder.ranges) refuse(s"$name has other range partitions")
  }

  private def name: String = TableName.shown(session, ident)

  private def shown(schema: StructType): String =
    HiddenColumns.without(schema).map(f => s"${f.name} ${f.dataType.sql}").mkString(", ")

  private def refuse(why: String): Nothing =
    HeldFolder.refuse(s"set the location of $name", location, why.capitalize,
      s"DROP TABLE $name and CREATE TABLE $name USING delta LOCATION '$location' give the name to that table")
}

object SetLocation {

  def of(session: SparkSession, ident: Identifier, table: Table, changes: Seq[TableChange]): Option[SetLocation] =
    for {
      location <- changes.collectFirst { case set: SetProperty if set.property() == TableCatalog.PROP_LOCATION =>
        set.value()
      }
      target <- HeldFolder.deltaAt(session, location)
      if Seq(table, target).exists(DeltaTables.hidesColumns(session, _))
    } yield new SetLocation(session, ident, table, location, target)
}
