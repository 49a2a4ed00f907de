package org.apache.spark.sql.colocate.doris.procedures

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.QuotingUtils
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.catalog.{RangeCommit, RefreshCache}
import org.apache.spark.sql.colocate.declared.DeclaredRanges
import org.apache.spark.sql.colocate.evidence.delta.DeltaTables
import org.apache.spark.sql.colocate.layout.RangeColumn
import org.apache.spark.sql.colocate.system.SystemProcedure
import org.apache.spark.sql.connector.catalog.procedures.ProcedureParameter
import org.apache.spark.sql.connector.catalog.{CatalogManager, Identifier, Table}
import org.apache.spark.sql.types._

/** A Delta table of the session catalog that a procedure names, as `t`, `db.t` or `spark_catalog.db.t`. */
private[procedures] case class NamedTable(ident: Identifier, table: Table) {
  def quoted: String = {
    val isPath = ident.namespace().sameElements(Array("delta"))
    val catalog = Option.when(!isPath)(CatalogManager.SESSION_CATALOG_NAME)
    QuotingUtils.quoteNameParts(catalog.toSeq ++ ident.namespace() :+ ident.name())
  }
}

private[procedures] object NamedTable {

  def load(session: SparkSession, name: String): NamedTable = {
    val state = session.sessionState
    val parts = state.sqlParser.parseMultipartIdentifier(name)
    val plain = if (parts.size == 3 && parts.head == CatalogManager.SESSION_CATALOG_NAME) parts.tail else parts
    val namespace = if (plain.size == 1) Seq(session.catalog.currentDatabase) else plain.init
    val ident = Identifier.of(namespace.toArray, plain.last)
    val table = DeltaTables.load(session, ident)
    if (DeltaTables.isDelta(table)) NamedTable(ident, table)
    else throw new ColocateException("RANGE_TABLE",
      s"$name has no range partitions: it is not a Delta table. Create it with USING delta.")
  }
}

/** A procedure that changes the range partitions of a table, and answers with those that it has then. */
abstract class RangeProcedure(title: String, help: String)
    extends SystemProcedure(title, help, "partition STRING, `range` STRING") {

  protected def commit(session: SparkSession, name: String): RangeCommit = {
    val named = NamedTable.load(session, name)
    new RangeCommit(session, named.ident, named.table)
  }

  protected def rows(ranges: DeclaredRanges): Seq[Row] = ranges.entries.map(p => Row(p.name, p.range))

  protected def text(input: InternalRow, at: Int): Option[String] =
    Option.when(!input.isNullAt(at))(input.getString(at))
}

object AddPartition extends RangeProcedure(
      "add_partition",
      "Adds a range partition to a Delta table. Without a lower bound it begins where the partition before it ends. " +
        "It may have a number of buckets of its own if the table is in no group.") {

  override def parameters(): Array[ProcedureParameter] = Array(
    required("table", StringType), required("partition", StringType), required("upper", StringType),
    optional("lower", StringType, "NULL"), optional("buckets", IntegerType, "NULL"),
    optional("keys", StringType, "NULL"), optional("if_not_exists", BooleanType, "false"))

  override protected def run(session: SparkSession, input: InternalRow): Seq[Row] = {
    val buckets = Option.when(!input.isNullAt(4))(input.getInt(4))
    val change = commit(session, input.getString(0))
      .add(input.getString(1), text(input, 3), input.getString(2), buckets, text(input, 5), input.getBoolean(6))
    rows(change)
  }
}

object AddPartitions extends RangeProcedure(
      "add_partitions",
      "Adds several range partitions to a Delta table, all or none: a JSON list of name, lower and upper bound.") {

  override def parameters(): Array[ProcedureParameter] = Array(
    required("table", StringType), required("partitions", StringType), optional("if_not_exists", BooleanType, "false"))

  override protected def run(session: SparkSession, input: InternalRow): Seq[Row] =
    rows(commit(session, input.getString(0)).addAll(input.getString(1), input.getBoolean(2)))
}

object DropPartition extends RangeProcedure(
      "drop_partition",
      "Drops a range partition and its rows, in one commit. The other ranges stay, so a hole may be left.") {

  override def parameters(): Array[ProcedureParameter] = Array(
    required("table", StringType), required("partition", StringType), optional("if_exists", BooleanType, "false"))

  override protected def run(session: SparkSession, input: InternalRow): Seq[Row] =
    rows(commit(session, input.getString(0)).drop(input.getString(1), input.getBoolean(2)))
}

object TruncatePartition extends SystemProcedure(
      "truncate_partition",
      "Removes all rows of range partitions; the partitions stay.",
      "partition STRING") {

  override def parameters(): Array[ProcedureParameter] =
    Array(required("table", StringType), required("partitions", StringType))

  override protected def run(session: SparkSession, input: InternalRow): Seq[Row] = {
    val named = NamedTable.load(session, input.getString(0))
    val wanted = input.getString(1).split(",").toSeq.map(_.trim).filter(_.nonEmpty)
    val names = new RangeCommit(session, named.ident, named.table).named(wanted)
    if (names.nonEmpty) {
      val list = names.map(name => s"'$name'").mkString(", ")
      session.sql(s"DELETE FROM ${named.quoted} WHERE ${RangeColumn.Name} IN ($list)")
      RefreshCache(session, named.table)
    }
    names.map(Row(_))
  }
}
