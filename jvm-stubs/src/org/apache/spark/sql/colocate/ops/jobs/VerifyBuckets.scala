package org.apache.spark.sql.colocate.ops.jobs

import scala.util.Random

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.evidence.delta.{DamageMark, DeltaTransaction}
import org.apache.spark.sql.colocate.Json.formats
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.json4s.JValue

/**
 * Reads the bucket keys of each row in files of some buckets. A file with a row of another bucket is a stray from now
 * on: the table's manifest says so, and queries shuffle its rows to their buckets.
 */
private[jobs] object VerifyBuckets extends JobTask {

  override def run(session: SparkSession, table: JobTable, args: JValue): Any = {
    val scan = MemberScan.of(session, table)
    val wanted = (args \ "buckets").extract[Set[Int]]
    val claims = scan.claims.filter { case (_, bucket) => wanted(bucket) }
    val wrong = scan.trust.verify(chosen(claims, (args \ "share").extract[Double], (args \ "seed").extract[Long]))
    if (wrong.nonEmpty && table.isDelta && !scan.isMarked) mark(session, table)
    Map("wrong" -> wrong.map { checked =>
      Map[String, Any](
        "file" -> checked.file.filePath.toString, "claimed" -> checked.bucket, "found" -> checked.found.get)
    })
  }

  private def mark(session: SparkSession, table: JobTable): Unit = {
    DamageMark.set(new DeltaTransaction(table.load(session)))
    session.catalog.refreshTable(table.quoted)
  }

  /** This share of each bucket's files, at least one; the seed decides which. */
  private def chosen(
      claims: Seq[(PartitionedFile, Int)], share: Double, seed: Long): Seq[(PartitionedFile, Int)] =
    if (share >= 1) claims
    else if (share <= 0) Nil
    else claims.groupBy(_._2).toSeq.sortBy(_._1).flatMap { case (bucket, files) =>
      val ordered = files.sortBy(_._1.filePath.toString)
      new Random(seed * 31 + bucket).shuffle(ordered).take(math.ceil(files.size * share).toInt)
    }
}
