package org.apache.spark.sql.colocate.doris.keys

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.evidence.delta.DeltaIndexes
import org.apache.spark.sql.colocate.layout.{BucketColumn, HiddenColumns, RangeColumn}
import org.apache.spark.sql.execution.datasources.HadoopFsRelation

/**
 * Proves from a snapshot's schema that rows with equal keys are in one bucket and partition: the columns that decide
 * where a row is are key columns. Otherwise a tag of a file proves nothing about all rows of a key.
 */
object KeyPlaces {

  def areOne(files: HadoopFsRelation, model: KeyModel): Boolean = {
    val session = SparkSession.active
    val schema = DeltaIndexes.schemaOf(files)
    val buckets = BucketColumn.layoutOf(session, schema).toSeq.flatMap(_.keys)
    val partitions = files.partitionSchema.fieldNames.filterNot(HiddenColumns.contains)
    buckets.nonEmpty && (buckets ++ partitions ++ RangeColumn.columns(session, schema)).forall(model.isKey)
  }
}
