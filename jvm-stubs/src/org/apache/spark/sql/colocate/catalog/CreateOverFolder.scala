package org.apache.spark.sql.colocate.catalog

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.compat.TableInfos
import org.apache.spark.sql.colocate.compat.TableInfos.TableInfo
import org.apache.spark.sql.colocate.declared.{DeltaLayout, GroupProperties, RangeProperties, TableName}
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.types.{StructField, StructType}

/**
 * CREATE TABLE over the folder of a Delta table with hidden columns. A statement may leave out what the table's log
 * says: all columns together with buckets and partitions, and each property. What it names must be the same.
 */
class CreateOverFolder(session: SparkSession, statement: DeltaStatement, typed: TableInfo, folder: HeldFolder) {

  private val shown = TableName.shown(session, statement.ident)

  /** The statement as Delta takes it: Delta reads columns, partitions and properties from the log. */
  def forDelta: TableInfo = {
    differences.headOption.foreach { case (named, held) =>
      HeldFolder.refuse(s"create $shown", folder.location, s"The statement has $named, the table has $held",
        s"Leave columns, buckets and properties out: CREATE TABLE $shown USING delta LOCATION " +
          s"'${folder.location}'; or choose another folder")
    }
    val own = typed.properties().asScala.filter { case (key, _) => !isUsers(key) }
    TableInfos.rebuilt(typed, Array.empty, Array.empty, own.asJava)
  }

  /** What the statement names otherwise, and what the table has. */
  private def differences: Seq[(String, String)] = ofColumns ++ ofProperties

  private def ofColumns: Seq[(String, String)] = {
    val columns = CatalogV2Util.v2ColumnsToStructType(typed.columns())
    val partitions = DeltaLayout.partitionColumns(typed.partitions().toSeq)
    val layout = statement.layout.fold("no buckets")(l => HeldFolder.clause(l.keys, l.buckets))
    if (columns.isEmpty) Nil
    else Seq(
      different(s"the columns (${ddl(columns)})", s"(${ddl(folder.columns)})", ddl(columns) == ddl(folder.columns)),
      different(layout, folder.buckets, layout == folder.buckets),
      different(by(partitions), by(folder.partitions), partitions == folder.partitions)).flatten
  }

  private def ofProperties: Seq[(String, String)] =
    typed.properties().asScala.toSeq.sorted.filter(p => isUsers(p._1)).flatMap { case (key, value) =>
      if (RangeProperties.isOne(key))
        different("other range partitions", "those of its log", statement.ranges.map(_.expression) == folder.ranges)
      else {
        val named = statement.keyModel.getOrElse(key.toLowerCase(java.util.Locale.ROOT), value.trim)
        val held = GroupProperties.value(folder.properties ++ folder.model, key)
        different(s"'$key' = '$value'", held.fold("no such property")(v => s"'$v'"), held.map(_.trim).contains(named))
      }
    }

  private def different(named: String, held: String, same: Boolean): Option[(String, String)] =
    Option.unless(same)(named -> held)

  private def by(partitions: Seq[String]): String =
    if (partitions.isEmpty) "no partition columns" else s"PARTITIONED BY (${partitions.mkString(", ")})"

  private def ddl(columns: StructType): String = columns.map(column).mkString(", ")

  private def column(field: StructField): String =
    s"${field.name} ${field.dataType.sql}" + (if (field.nullable) "" else " NOT NULL")

  /** TBLPROPERTIES, and not what Spark itself keeps among them, such as the location and OPTIONS. */
  private def isUsers(key: String): Boolean =
    !CatalogV2Util.TABLE_RESERVED_PROPERTIES.contains(key) && !key.startsWith(TableCatalog.OPTION_PREFIX) &&
      !typed.properties().containsKey(TableCatalog.OPTION_PREFIX + key)
}
