package org.apache.spark.sql.colocate.ops.jobs

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.json4s.JValue

/** Files and bytes of each bucket, the empty ones too, and of all strays together. */
private[jobs] object BucketSizes extends JobTask {

  override def run(session: SparkSession, table: JobTable, args: JValue): Any = {
    val scan = MemberScan.of(session, table)
    val byBucket = scan.claims.groupMap(_._2)(_._1)
    val buckets = (0 until scan.evidence.layout.buckets).map(b => sizes(byBucket.getOrElse(b, Nil)) + ("bucket" -> b))
    Map("buckets" -> buckets, "strays" -> sizes(scan.strays))
  }

  def sizes(files: Seq[PartitionedFile]): Map[String, Any] =
    Map("files" -> files.size, "bytes" -> files.map(_.fileSize).sum)
}
