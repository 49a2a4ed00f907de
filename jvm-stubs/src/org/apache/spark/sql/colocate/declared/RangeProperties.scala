package org.apache.spark.sql.colocate.declared

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.Json.formats
import org.apache.spark.sql.colocate.bridge.ControlPlane
import org.apache.spark.sql.colocate.{ColocateException, Json}
import org.json4s.JValue

/**
 * Range partitions as the control plane has checked them.
 *
 * @param columns    the range columns, spelled as the table's
 * @param partitions the property's text, with all bounds filled
 * @param expression SQL that gives a row's partition
 * @param buckets    SQL that gives the number of buckets of a row's partition, if these differ
 */
case class DeclaredRanges(columns: Seq[String], partitions: String, expression: String, buckets: Option[String]) {

  def entries: Seq[RangeEntry] = RangeProperties.entries(properties)

  def properties: Map[String, String] =
    Map(RangeProperties.Columns -> columns.mkString(", "), RangeProperties.Partitions -> partitions)
}

/** A partition as the property has it: bounds in Spark's form, or MINVALUE and MAXVALUE. */
case class RangeEntry(name: String, lower: Seq[String], upper: Seq[String], buckets: Option[Int]) {
  def range: String = s"[${RangeEntry.shown(lower)}, ${RangeEntry.shown(upper)})"

  /** For DESCRIBE. */
  def described: String = range + buckets.fold("")(n => s", $n buckets")
}

object RangeEntry {
  private val words = Map("MINVALUE" -> "MIN_VALUE", "MAXVALUE" -> "MAX_VALUE")

  def shown(bound: Seq[String]): String = {
    val values = bound.map(value => words.getOrElse(value, value))
    if (values.size == 1) values.head else values.mkString("(", ", ", ")")
  }
}

/** The two table properties of range partitions. Their keys are read whatever their case, and kept in lower case. */
object RangeProperties {

  val Columns = "range_partition_by"
  val Partitions = "range_partitions"

  private val keys = Seq(Columns, Partitions)

  def isOne(key: String): Boolean = ReservedProperties.isOf("ranges", key)

  def mentions(names: Iterable[String]): Boolean = names.exists(isOne)

  /** Both keys: one alone may be any user's property. */
  def declares(names: Iterable[String]): Boolean = keys.forall(key => names.exists(_.equalsIgnoreCase(key)))

  /** Both, if they are there. */
  def only(properties: Map[String, String]): Map[String, String] =
    keys.flatMap(key => GroupProperties.value(properties, key).map(key -> _)).toMap

  def without(properties: Map[String, String]): Map[String, String] = properties.filterNot(p => isOne(p._1))

  /** What a CREATE declares; the control plane's error if it is wrong. None if it names no range partitions. */
  def declared(
      session: SparkSession,
      table: TableIdentifier,
      columns: Seq[ColumnSpec],
      layout: Option[DeltaLayout],
      properties: Map[String, String]): Option[DeclaredRanges] =
    Option.when(mentions(properties.keys)) {
      of(ControlPlane.call(session, "create_ranges", facts(session, table, columns, layout, properties): _*))
    }

  /** A table with range partitions, as arguments of the control plane's verbs. */
  def facts(
      session: SparkSession,
      table: TableIdentifier,
      columns: Seq[ColumnSpec],
      layout: Option[DeltaLayout],
      properties: Map[String, String]): Seq[(String, Any)] = TableSpec.named(table) ++ Seq(
    "columns" -> columns.map(_.facts),
    "bucket_keys" -> layout.toSeq.flatMap(_.keys),
    "buckets" -> layout.fold(0)(_.buckets),
    "group" -> GroupProperties.group(properties).orNull,
    "by" -> GroupProperties.value(properties, Columns).orNull,
    "partitions" -> GroupProperties.value(properties, Partitions).orNull,
    "zone" -> session.sessionState.conf.sessionLocalTimeZone)

  def of(answer: JValue): DeclaredRanges = DeclaredRanges(
    (answer \ "columns").extract[Seq[String]],
    (answer \ "partitions").extract[String],
    (answer \ "expression").extract[String],
    (answer \ "buckets").extractOpt[String])

  def entries(properties: Map[String, String]): Seq[RangeEntry] =
    GroupProperties.value(properties, Partitions).toSeq.flatMap(text => Json.parse(text).extract[Seq[RangeEntry]])

  def columns(properties: Map[String, String]): Seq[String] =
    GroupProperties.value(properties, Columns).toSeq.flatMap(_.split(",")).map(_.trim.stripPrefix("`").stripSuffix("`"))

  /** The ranges, in their order, that belong to no partition. */
  def open(partitions: Seq[RangeEntry]): Seq[String] = {
    val lowest = partitions.headOption.map(_.lower.map(_ => "MINVALUE")).toSeq
    val highest = partitions.lastOption.map(_.upper.map(_ => "MAXVALUE")).toSeq
    (lowest ++ partitions.map(_.upper)).zip(partitions.map(_.lower) ++ highest)
      .collect { case (from, to) if from != to => RangeEntry("", from, to, None).range }
  }

  def refuseFormat(table: String, format: String): Nothing =
    throw new ColocateException("RANGE_FORMAT",
      s"Cannot partition $table by range: its format is ${format.toUpperCase(java.util.Locale.ROOT)}, whose writers " +
        s"do not keep rows out of wrong partitions; Delta's do. Create $table with USING delta.")

  def refuseAlter(table: String, key: String): Nothing =
    throw new ColocateException("RANGE_PROPERTY_FIXED",
      s"Cannot set or unset '$key' of $table: Delta's writers compute the partitions by an expression that CREATE " +
        s"made from it. CALL system.add_partition and CALL system.drop_partition change both.")
}
