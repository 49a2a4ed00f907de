package org.apache.spark.sql.colocate.write

import org.apache.hadoop.fs.Path
import org.apache.parquet.hadoop.ParquetOutputFormat
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.conf.Settings
import org.apache.spark.sql.colocate.declared.GroupProperties
import org.apache.spark.sql.connector.catalog.{CatalogV2Util, Identifier, TableCatalog}

/**
 * Buckets are written in smaller row groups than Parquet's 128 MiB, because several tasks can share a hot bucket's file
 * only by row groups. Delta's writer takes settings of Parquet from the table's properties, so every writer uses this
 * size, also one without our extension.
 */
private[colocate] case class RowGroupSize(session: SparkSession, tables: TableCatalog) {

  private val Key = ParquetOutputFormat.BLOCK_SIZE

  /** The property for a new table, unless the statement or the session sets a size. */
  def ofNew(stated: Map[String, String]): Map[String, String] = {
    val size = Settings.number(session.sessionState.conf, "spark.colocate.write.rowGroupBytes")
    if (size <= 0 || names(stated) || conf.get(Key) != null) Map.empty else Map(Key -> size.toString)
  }

  /** CREATE TABLE over the files of a Delta table takes it as it is, and compares the properties if it names any. */
  def at(location: Option[String], stated: Map[String, String]): Map[String, String] =
    location.filter(hasLog).fold(ofNew(stated)) { path =>
      if (names(stated) || !stated.keys.exists(isProperty)) Map.empty else ofTable(path)
    }

  private def names(stated: Map[String, String]): Boolean = GroupProperties.value(stated, Key).isDefined

  private def isProperty(key: String): Boolean =
    !CatalogV2Util.TABLE_RESERVED_PROPERTIES.contains(key) && !key.startsWith(TableCatalog.OPTION_PREFIX)

  private def hasLog(location: String): Boolean = {
    val log = new Path(location, "_delta_log")
    log.getFileSystem(conf).exists(log)
  }

  private def ofTable(path: String): Map[String, String] =
    Option(tables.loadTable(Identifier.of(Array("delta"), path)).properties().get(Key)).map(Key -> _).toMap

  private def conf = session.sessionState.newHadoopConf()
}
