package org.apache.spark.sql.colocate.declared

import java.util.{Locale, Map => JMap}

import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.compat.TableInfos
import org.apache.spark.sql.colocate.compat.TableInfos.TableInfo
import org.apache.spark.sql.colocate.layout.{BucketColumn, RangeColumn}
import org.apache.spark.sql.connector.catalog.{Column, TableCatalog}
import org.apache.spark.sql.connector.expressions.{BucketTransform, FieldReference, IdentityTransform, Transform}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{IntegerType, Metadata}

/**
 * What a CREATE of a Delta table says about its buckets.
 *
 * @param keys    names of the bucket keys, spelled as the table's columns where there is such a column
 * @param buckets number of buckets as typed
 * @param model   the properties of the key model, as they were checked
 */
case class DeltaLayout(keys: Seq[String], buckets: Int, model: Map[String, String] = Map.empty) {

  /** The expression of the bucket column. */
  def expression(ranges: Option[DeclaredRanges]): String =
    BucketColumn.sql(keys, ranges.flatMap(_.buckets).getOrElse(buckets.toString))

  /** What the schema says of the bucket column besides. */
  def declaration: Metadata = KeyDeclaration.metadata(model)
}

/** Turns `CLUSTERED BY (k) INTO n BUCKETS` on Delta and range partitions into generated partition columns. */
object DeltaLayout {

  private val DeltaClass = "org.apache.spark.sql.delta.sources.deltadatasource"

  def isDelta(properties: JMap[String, String], conf: SQLConf): Boolean =
    isDelta(Option(properties.get(TableCatalog.PROP_PROVIDER)), conf)

  def isDelta(provider: Option[String], conf: SQLConf): Boolean =
    Set("delta", DeltaClass).contains(provider.getOrElse(conf.defaultDataSourceName).toLowerCase(Locale.ROOT))

  /** The layout that the statement declares; None without CLUSTERED BY. */
  def of(info: TableInfo, conf: SQLConf): Option[DeltaLayout] =
    info.partitions().collectFirst { case BucketTransform(buckets, keys, sortedBy) =>
      if (sortedBy.nonEmpty) {
        throw new ColocateException("SORTED_BY",
          s"SORTED BY (${sortedBy.map(_.toString).mkString(", ")}) can't be kept by a Delta table. " +
            "Leave SORTED BY out; OPTIMIZE ... ZORDER BY orders the rows inside the buckets.")
      }
      val named = keys.map(key => spelling(key.fieldNames().mkString("."), info, conf))
      named.find(isPartition(info, conf)).foreach(refusePartition)
      DeltaLayout(named, buckets)
    }

  /** The columns of PARTITIONED BY, the hidden ones of a table that is there included. */
  def partitionColumns(transforms: Seq[Transform]): Seq[String] =
    transforms.collect { case IdentityTransform(FieldReference(Seq(column))) => column }

  private def isPartition(info: TableInfo, conf: SQLConf)(key: String): Boolean =
    partitionColumns(info.partitions().toSeq).exists(conf.resolver(_, key))

  // Spark refuses the same for its own buckets. An empty text in a partition column is read back as null.
  private def refusePartition(key: String): Nothing =
    throw new ColocateException("KEY_PARTITIONED",
      s"CLUSTERED BY ($key) is refused, because the table is PARTITIONED BY ($key) too: all rows of a partition " +
        s"would lie in one bucket. Leave $key out of one of the two.")

  /** The statement as Delta's own catalog takes it. The last column, and the last partition column, is the bucket. */
  def applied(info: TableInfo, layout: Option[DeltaLayout], ranges: Option[DeclaredRanges]): TableInfo = {
    val hidden = ranges.map(r => RangeColumn.column(r.expression)) ++ layout.map(bucket(_, ranges))
    val partitions: Array[Transform] = info.partitions().filter {
      case BucketTransform(_, _, _) => false
      case _ => true
    } ++ hidden.map(column => IdentityTransform(FieldReference(Seq(column.name))))
    TableInfos.rebuilt(info, info.columns() ++ hidden, partitions, info.properties())
  }

  private def bucket(layout: DeltaLayout, ranges: Option[DeclaredRanges]): Column =
    Column.create(
      BucketColumn.Name, IntegerType, true, null, layout.expression(ranges), layout.declaration.json)

  private def spelling(key: String, info: TableInfo, conf: SQLConf): String =
    info.columns().map(_.name).find(conf.resolver(_, key)).getOrElse(key)
}
