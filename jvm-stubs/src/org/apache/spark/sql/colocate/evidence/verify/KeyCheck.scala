package org.apache.spark.sql.colocate.evidence.verify

import java.io.Closeable

import org.apache.spark.sql.colocate.layout.BucketLayout
import org.apache.spark.sql.execution.datasources.{FileFormat, HadoopFsRelation, PartitionedFile}
import org.apache.spark.sql.types.StructType

/** A file that claims to hold one bucket, and the other bucket of the first row that does not belong to it, if any. */
case class CheckedFile(file: PartitionedFile, bucket: Int, found: Option[Int])

/**
 * Reads the bucket keys of every row of files and compares their hash with the bucket that each file claims. It runs
 * before the scan's own tasks, so that also a query that stops early (LIMIT, an empty other side, an iterator) returns
 * no row that a wrong file could have changed. Where that can't happen, CheckInTask costs less. Filters are not pushed,
 * because they would skip rows.
 */
case class KeyCheck(relation: HadoopFsRelation, layout: BucketLayout) {
  import KeyCheck.other

  def run(claims: Seq[(PartitionedFile, Int)]): Seq[CheckedFile] = if (claims.isEmpty) Nil else check(claims)

  private def check(claims: Seq[(PartitionedFile, Int)]): Seq[CheckedFile] = {
    val session = relation.sparkSession
    val (read, hash) = (reader, KeyHash.of(layout, columns))
    val buckets = layout.buckets
    // Large files first, assigned to the slices in turn.
    val slices = claims.size.min(session.sparkContext.defaultParallelism * 4)
    val dealt = claims.sortBy(-_._1.length).zipWithIndex.groupMap(_._2 % slices)(_._1).toSeq.sortBy(_._1).map(_._2)
    session.sparkContext
      .parallelize(dealt, slices)
      .flatMap(_.map { case (file, bucket) =>
        CheckedFile(file, bucket, other(hash.open(), read(file), BucketMatcher(bucket, buckets)))
      })
      .collect()
      .toSeq
  }

  private def keySchema: StructType = StructType(relation.dataSchema.filter(f => layout.keys.contains(f.name)))
  private def columns: StructType = StructType(keySchema ++ relation.partitionSchema)

  private def reader: PartitionedFile => Iterator[Any] = {
    val batches = relation.fileFormat.supportBatch(relation.sparkSession, columns)
    relation.fileFormat.buildReaderWithPartitionValues(
      sparkSession = relation.sparkSession,
      dataSchema = relation.dataSchema,
      partitionSchema = relation.partitionSchema,
      requiredSchema = keySchema,
      filters = Nil,
      options = relation.options + (FileFormat.OPTION_RETURNING_BATCH -> batches.toString),
      hadoopConf = relation.sparkSession.sessionState.newHadoopConfWithOptions(relation.options))
  }
}

object KeyCheck {

  private def other(hash: OpenKeyHash, read: Iterator[Any], claimed: BucketMatcher): Option[Int] =
    try {
      read.map(hash.other(_, claimed)).collectFirst { case Some(bucket) => bucket }
    } finally read match {
      case open: Closeable => open.close()
      case _ =>
    }
}
