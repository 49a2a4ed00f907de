package org.apache.spark.sql.colocate.write.overwrite

import org.apache.spark.sql.colocate.evidence.delta.{DeltaTables, DeltaWrites, TableNames}
import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Literal}
import org.apache.spark.sql.catalyst.util.{CharVarcharUtils, QuotingUtils}
import org.apache.spark.sql.classic.DataFrame
import org.apache.spark.sql.colocate.write.target.BucketedTarget
import org.apache.spark.sql.execution.SQLExecution
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/**
 * The partitions, by the user's partition columns, that rows belong to. Values are compared as structs, where a null
 * equals a null, and are spelled so that no time zone, calendar or escape comes between.
 */
object UserPartitions {

  /** The partitions as a condition on the table; None if there are no rows. Runs `rows` once. */
  def of(target: BucketedTarget, rows: DataFrame): Option[String] = {
    val resolver = target.relation.conf.resolver
    val columns = target.userPartitions.flatMap(name => target.relation.output.find(a => resolver(a.name, name)))
    val found = collected(asStored(target, rows).select(columns.map(valueOf(target, rows, _)): _*).distinct())
    val tuples = found.flatMap { row =>
      columns.indices.map(i => spellings(columns(i), row, i)).foldLeft(Seq(Seq.empty[String])) { (tuples, forms) =>
        tuples.flatMap(tuple => forms.map(tuple :+ _))
      }
    }
    Option.when(tuples.nonEmpty)(s"${struct(columns.map(nullable))} IN (${tuples.distinct.map(struct).mkString(", ")})")
  }

  /** Delta puts a value of its log there, which may be null for Spark; a struct's field that may not can't take it. */
  private def nullable(column: Attribute): String = {
    val quoted = QuotingUtils.quoteIdentifier(column.name)
    if (column.nullable) quoted else s"if(isnull($quoted), NULL, $quoted)"
  }

  private def struct(fields: Seq[String]): String =
    fields.zipWithIndex.map { case (field, i) => s"'c$i', $field" }.mkString("named_struct(", ", ", ")")

  private def nameIn(target: BucketedTarget, rows: DataFrame, column: Attribute): Option[String] =
    rows.columns.find(target.relation.conf.resolver(_, column.name))

  private def collected(values: DataFrame): Seq[InternalRow] = {
    val execution = values.queryExecution
    SQLExecution.withNewExecutionId(execution)(execution.executedPlan.executeCollect()).toSeq
  }

  /** The rows' columns in the table's types, since values of generated columns are computed from those. */
  private def asStored(target: BucketedTarget, rows: DataFrame): DataFrame =
    rows.select(target.relation.output.flatMap { column =>
      nameIn(target, rows, column).map { name =>
        rows.col(QuotingUtils.quoteIdentifier(name)).cast(column.dataType).as(column.name)
      }
    }: _*)

  /** A generated column that the rows lack is computed, as Delta does; for another one it throws Delta's error. */
  private def valueOf(target: BucketedTarget, rows: DataFrame, column: Attribute): Column =
    if (nameIn(target, rows, column).isDefined) expr(QuotingUtils.quoteIdentifier(column.name))
    else DeltaTables.generationOf(target.relation.table, column.name).map(expr(_).cast(column.dataType)).getOrElse {
      throw DeltaWrites.partitionColumnNotFound(
        TableNames.of(target.relation), column.name, rows.queryExecution.analyzed.output)
    }

  /** A value in each form that it may have in the rows or in the table. */
  private def spellings(column: Attribute, row: InternalRow, ordinal: Int): Seq[String] = {
    val value = row.get(ordinal, column.dataType)
    forms(column, value).map(form => s"CAST(${spelled(form, column.dataType)} AS ${column.dataType.sql})")
  }

  private def forms(column: Attribute, value: Any): Seq[Any] =
    (CharVarcharUtils.getRawType(column.metadata), value) match {
    // Delta keeps an empty text as a null.
    case (_, text: UTF8String) if text.numBytes == 0 => Seq(text, null)
    case (_, bytes: Array[Byte]) if bytes.isEmpty => Seq(bytes, null)
    case (Some(char: CharType), text: UTF8String) =>
      Seq(text, text.trimRight(), text.trimRight().rpad(char.length, UTF8String.fromString(" "))).distinct
    case _ => Seq(value)
  }

  private def spelled(value: Any, dataType: DataType): String = (value, dataType) match {
    case (null, _) => "NULL"
    case (text: UTF8String, _) => hex(text.getBytes)
    case (bytes: Array[Byte], _) => hex(bytes)
    case (micros, TimestampType) => s"timestamp_micros(${micros}L)"
    case (days, DateType) => s"date_from_unix_date($days)"
    case _ => Literal(value, dataType).sql
  }

  private def hex(bytes: Array[Byte]): String = bytes.map(b => f"${b & 0xff}%02X").mkString("X'", "", "'")
}
