package org.apache.spark.sql.colocate.evidence.verify

import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.layout.{BucketSource, Evidence}
import org.apache.spark.sql.execution.datasources.PartitionedFile

/**
 * A row lies in a file of another bucket than its own. Spark wraps what a task throws into an aborted job, unless it
 * has a condition of Spark's list. Clients that build the message from the condition again, such as Spark Connect's,
 * show our whole message.
 */
class WrongBucketException(message: String)
    extends ColocateException("ROW_IN_WRONG_BUCKET", message, bare = true) {
  override def getCondition: String = "INVALID_BUCKET_FILE"
  override def getMessageParameters: java.util.Map[String, String] = java.util.Map.of("path", message)
}

object WrongBucketException {

  /** @param found the bucket of a row in the file, which is not `claimed` */
  def of(evidence: Evidence, file: PartitionedFile, claimed: Int, found: Int): WrongBucketException = {
    val cure = evidence.source match {
      case BucketSource.FileName =>
        "The file counts as a stray from now on: run the query again, and its rows are shuffled to their buckets. " +
          s"CALL system.repair(table => '${evidence.table}') writes them where they belong."
      case _: BucketSource.PartitionValue =>
        s"CALL system.verify(table => '${evidence.table}', wait => true) marks all such files, and queries are right " +
          s"again; CALL system.repair(table => '${evidence.table}') writes their rows where they belong."
    }
    new WrongBucketException(
      s"Cannot read ${evidence.table} by bucket: the file ${file.urlEncodedPath} claims bucket $claimed, " +
        s"but holds a row of bucket $found. Nothing was returned. $cure")
  }
}
