package org.apache.spark.sql.colocate.doris.keys

import java.util.UUID

import org.apache.spark.sql.colocate.compat.delta.{MappedColumns, TableFile}
import org.apache.spark.sql.colocate.compat.hooks.{DeltaHooks, SelfCheck}
import org.apache.spark.sql.colocate.evidence.delta.{DeltaIndexes, SortedTags}
import org.apache.spark.sql.execution.datasources.HadoopFsRelation
import org.apache.spark.sql.types.StructType

/**
 * Proves from Delta's log that the files of a scan have one row for each key. `CALL system.compact` marks all files
 * that it writes with a number of its own, in the tags of their AddFile actions. Rows with equal keys are in the same
 * bucket and partition, if all columns that decide this are keys; so it is proven where all files of a bucket and
 * partition have the same mark. The mark names the keys, too. A rewrite makes files without the mark.
 */
object UniqueFiles {

  def has(files: HadoopFsRelation, model: KeyModel): Boolean =
    SelfCheck.has(DeltaHooks.FileTags) && DeltaIndexes.isPrepared(files.location) &&
      KeyPlaces.areOne(files, model) &&
      others(DeltaIndexes.preparedFiles(files.location), keys(DeltaIndexes.schemaOf(files), model)).isEmpty

  /** A mark of its own for a compaction by the key columns. */
  def newMark(schema: StructType, model: KeyModel): String = s"${UUID.randomUUID()} ${keys(schema, model)}"

  /** The files of the buckets and partitions for which it is not proven. */
  def others(addFiles: Seq[TableFile], schema: StructType, model: KeyModel): Seq[TableFile] =
    others(addFiles, keys(schema, model))

  private def others(addFiles: Seq[TableFile], keys: String): Seq[TableFile] =
    addFiles.groupBy(_.partitionValues).values.filterNot(areOfOneCompaction(_, keys)).flatten.toSeq

  private def areOfOneCompaction(addFiles: Seq[TableFile], keys: String): Boolean = {
    val marks = addFiles.map(_.tags.get(SortedTags.Compacted)).distinct
    marks.size == 1 && marks.head.exists(_.endsWith(s" $keys"))
  }

  /** The key columns by the names that their values have in the files: another column may get a key's name later. */
  private def keys(schema: StructType, model: KeyModel): String =
    model.keys.flatMap(key => schema.find(_.name.equalsIgnoreCase(key))).map(MappedColumns.physicalName)
      .sorted.mkString(",")
}
