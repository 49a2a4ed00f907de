package org.apache.spark.sql.colocate.write.overwrite

import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.internal.SQLConf.PartitionOverwriteMode.DYNAMIC

/** Delta's options of an overwrite: `partitionOverwriteMode`, which the session's setting stands in for, and others. */
object OverwriteMode {

  private val Mode = "partitionOverwriteMode"
  private val ReplaceWhere = "replaceWhere"
  private val MergeSchema = "mergeSchema"
  private val AutoMerge = "spark.databricks.delta.schema.autoMerge.enabled"

  /** Delta's switch of the whole mode. */
  def isKnown(conf: SQLConf): Boolean =
    conf.getConfString("spark.databricks.delta.dynamicPartitionOverwrite.enabled", "true").toBoolean

  def isDynamic(options: Map[String, String], conf: SQLConf): Boolean = {
    val named = CaseInsensitiveMap(options)
    isKnown(conf) && !named.contains(ReplaceWhere) && !flag(options, "overwriteSchema") &&
    named.getOrElse(Mode, conf.partitionOverwriteMode.toString).equalsIgnoreCase(DYNAMIC.toString)
  }

  def static(options: Map[String, String]): Map[String, String] =
    options.filterNot(_._1.equalsIgnoreCase(Mode)) + (Mode -> "static")

  /** Replaces what fulfils the condition, in the transaction that writes the rows. */
  def where(options: Map[String, String], condition: String): Map[String, String] =
    static(options) + (ReplaceWhere -> condition)

  /** Without Delta's own shuffle before a write, which would undo the distribution; unless the user set it. */
  def unshuffled(options: Map[String, String]): Map[String, String] =
    if (CaseInsensitiveMap(options).contains("optimizeWrite")) options else options + ("optimizeWrite" -> "false")

  /** May a write with these options change the table's schema? */
  def evolves(options: Map[String, String], conf: SQLConf): Boolean =
    CaseInsensitiveMap(options).get(MergeSchema).fold(conf.getConfString(AutoMerge, "false"))(identity)
      .equalsIgnoreCase("true")

  def flag(options: Map[String, String], key: String): Boolean =
    CaseInsensitiveMap(options).get(key).exists(_.equalsIgnoreCase("true"))
}
