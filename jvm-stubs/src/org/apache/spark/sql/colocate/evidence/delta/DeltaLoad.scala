package org.apache.spark.sql.colocate.evidence.delta

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.compat.delta.TaggedLoads
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.{DataFrame, SaveMode}

/** An INSERT of Delta's own whose new files get tags. */
private[colocate] class DeltaLoad(
    session: SparkSession, table: Table, mode: SaveMode, tags: Map[String, String]) {

  /** @param options of the write; only those in DeltaLoad.options */
  def run(rows: DataFrame, options: Map[String, String]): Unit =
    TaggedLoads.run(session, table, mode, tags, rows, options)
}

private[colocate] object DeltaLoad {

  /** Options that change nothing about which files a write removes. */
  val options: Set[String] = Set("mergeSchema", "optimizeWrite", "userMetadata", "txnAppId", "txnVersion")
}
