package org.apache.spark.sql.colocate.catalog

import java.util.ConcurrentModificationException

import scala.annotation.tailrec

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.bridge.ControlPlane
import org.apache.spark.sql.colocate.declared.{ColumnSpec, DeclaredRanges, DeltaLayout, RangeProperties, TableName}
import org.apache.spark.sql.colocate.evidence.delta.DeltaTransaction
import org.apache.spark.sql.colocate.layout.{BucketColumn, BucketLayout, HiddenColumns, RangeColumn}
import org.apache.spark.sql.connector.catalog.{Identifier, Table}
import org.apache.spark.sql.types.{MetadataBuilder, StructField, StructType}

/**
 * Changes the range partitions of a Delta table in one commit: the properties, the expressions that Delta's writers
 * compute partitions and buckets with, and the files of a dropped partition.
 */
class RangeCommit(session: SparkSession, ident: Identifier, table: Table) {

  private val name = TableName.of(session, ident)

  /** @param keys the bucket keys that the statement names, separated by commas */
  def add(
      partition: String,
      lower: Option[String],
      upper: String,
      buckets: Option[Int],
      keys: Option[String],
      ifNotExists: Boolean): DeclaredRanges =
    changed("add_range", "partition" -> partition, "if_not_exists" -> ifNotExists, "lower" -> lower.orNull,
      "upper" -> upper, "partition_buckets" -> buckets.map(Int.box).orNull,
      "partition_keys" -> keys.orNull)(_ => None)

  /** @param partitions a JSON list of name, lower and upper bound */
  def addAll(partitions: String, ifNotExists: Boolean): DeclaredRanges =
    changed("add_range", "partitions_added" -> partitions, "if_not_exists" -> ifNotExists)(_ => None)

  def drop(partition: String, ifExists: Boolean): DeclaredRanges =
    changed("drop_range", "partition" -> partition, "if_exists" -> ifExists) { before =>
      RangeProperties.entries(before).map(_.name).find(_.equalsIgnoreCase(partition))
    }

  /** The names as the table spells them; the control plane's error for one that is not there. */
  def named(partitions: Seq[String]): Seq[String] = {
    val transaction = new DeltaTransaction(table)
    check(transaction)
    val answer = ControlPlane.call(session, "named_ranges", facts(transaction) :+ ("names" -> partitions): _*)
    (answer \ "names").children.map(_.values.toString)
  }

  private def changed(verb: String, args: (String, Any)*)(
      removed: Map[String, String] => Option[String]): DeclaredRanges =
    RangeCommit.onTop(RangeCommit.MostTries)(commit(verb, args)(removed))

  private def commit(verb: String, args: Seq[(String, Any)])(
      removed: Map[String, String] => Option[String]): DeclaredRanges = {
    val transaction = new DeltaTransaction(table)
    check(transaction)
    val after = RangeProperties.of(ControlPlane.call(session, verb, facts(transaction) ++ args: _*))
    val files = removed(transaction.properties).toSeq.flatMap(transaction.files(RangeColumn.Name, _))
    if (after.properties != transaction.properties.filter(p => RangeProperties.isOne(p._1))) {
      transaction.commit(
        RangeCommit.withExpressions(transaction.schema, after.expression, bucketExpression(transaction, after)),
        transaction.properties ++ after.properties,
        files)
      if (files.nonEmpty) RefreshCache(session, table)
    }
    after
  }

  /** A property that was changed by hand says nothing about the rows. */
  private def check(transaction: DeltaTransaction): Unit = {
    val expression = RangeColumn.expressionOf(transaction.schema)
    if (expression.isEmpty) refuse("it has no range partitions, only one that has all rows and is the table itself",
      "CREATE it anew with the properties 'range_partition_by' and 'range_partitions'")
    val declared = RangeProperties.of(ControlPlane.call(session, "create_ranges", facts(transaction): _*))
    val buckets = bucketExpression(transaction, declared)
    if (!expression.contains(declared.expression) || buckets.exists(!current(transaction).contains(_))) refuse(
      s"'${RangeProperties.Partitions}' is not what its rows were partitioned by",
      "RESTORE the table to a version in which the property was not changed by hand")
  }

  private def facts(transaction: DeltaTransaction): Seq[(String, Any)] = RangeProperties.facts(
    session,
    name,
    ColumnSpec.of(HiddenColumns.without(transaction.schema)),
    layoutOf(transaction).map(l => DeltaLayout(l.keys, l.declared)),
    transaction.properties)

  private def layoutOf(transaction: DeltaTransaction): Option[BucketLayout] =
    BucketColumn.layoutOf(session, transaction.schema)

  /** What the bucket column has to be; None if all partitions have the table's number, before and after. */
  private def bucketExpression(transaction: DeltaTransaction, ranges: DeclaredRanges): Option[String] =
    layoutOf(transaction).filter(_.partitions.isDefined || ranges.buckets.isDefined).map { layout =>
      DeltaLayout(layout.keys, layout.declared).expression(Some(ranges))
    }

  private def current(transaction: DeltaTransaction): Option[String] =
    transaction.schema.find(_.name == BucketColumn.Name).flatMap(BucketColumn.generation)

  private def refuse(why: String, cure: String): Nothing = throw new ColocateException("RANGE_TABLE",
    s"Cannot change the range partitions of ${TableName.shown(session, ident)}: $why. $cure.")
}

object RangeCommit {

  private val MostTries = 10

  /** If another commit came in between, Delta has refused ours as a whole. It is made anew on top of the other one. */
  @tailrec private def onTop[T](tries: Int)(commit: => T): T = {
    val made =
      try Right(commit)
      catch { case other: ConcurrentModificationException if tries > 1 => Left(other) }
    made match {
      case Right(done) => done
      case Left(_) => onTop(tries - 1)(commit)
    }
  }

  /** CREATE TABLE AS SELECT makes all columns nullable; then Delta would not refuse rows of no partition. */
  def requirePartition(table: Table): Unit = {
    val transaction = new DeltaTransaction(table)
    val expression = RangeColumn.expressionOf(transaction.schema)
    if (expression.isDefined && transaction.schema(RangeColumn.Name).nullable) {
      val schema = withExpressions(transaction.schema, expression.get, None)
      transaction.commit(schema, transaction.properties, Nil)
    }
  }

  /** @param buckets of the bucket column, if it changes */
  private def withExpressions(schema: StructType, range: String, buckets: Option[String]): StructType =
    StructType(schema.map { field =>
      if (field.name == RangeColumn.Name) computed(field, range).copy(nullable = false)
      else if (field.name == BucketColumn.Name) buckets.fold(field)(computed(field, _))
      else field
    })

  private def computed(field: StructField, expression: String): StructField = field.copy(
    metadata = new MetadataBuilder().withMetadata(field.metadata)
      .putString(BucketColumn.GenerationKey, expression).build())
}
