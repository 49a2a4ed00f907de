package org.apache.spark.sql.colocate.scan

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.conf.Settings
import org.apache.spark.sql.colocate.evidence.verify.FileTrust
import org.apache.spark.sql.colocate.layout.{BucketFileName, BucketSource, Evidence, EvidenceGap}
import org.apache.spark.sql.execution.FileSourceScanLike

/**
 * The files of a member, among those that a scan selects, whose bucket is not known. Of a Delta table: those that a
 * check has found to hold rows of other buckets.
 *
 * @param names a few of them, for messages
 * @param files how many files the scan selects, strays included
 * @param othersUnknown whether a file that is not a stray must be checked because it is not in the manifest
 */
case class Strays(
    count: Int,
    bytes: Long,
    names: Seq[String],
    files: Int,
    allBytes: Long,
    othersUnknown: Boolean = false) {

  def isEmpty: Boolean = count == 0
  def nonEmpty: Boolean = count > 0

  def describe: String = s"$count of $files files (${names.mkString(", ")}${if (count > names.size) ", ..." else ""})"

  /** Strays are shuffled alone, however many; above this share of the bytes the table is read without its layout. */
  def tooMany(session: SparkSession): Boolean =
    nonEmpty && bytes > Settings.decimal(session.sessionState.conf, "spark.colocate.strays.maxShare") * allBytes

  def gap(evidence: Evidence): EvidenceGap = {
    val percent = if (allBytes == 0) 100 else bytes * 100 / allBytes
    EvidenceGap.of("STRAY",
      "table" -> evidence.table, "file" -> names.headOption.getOrElse(""), "percent" -> s"$percent")
  }
}

object Strays {

  private val Named = 3

  val none: Strays = Strays(0, 0, Nil, 0, 0)

  /** Native files are listed here anyway (the index keeps the listing). */
  def of(scan: FileSourceScanLike, evidence: Evidence): Strays = evidence.source match {
    case _: BucketSource.PartitionValue => if (evidence.damaged) ofDelta(scan, evidence) else none
    case BucketSource.FileName =>
      val trust = FileTrust(scan.relation, evidence)
      val known = trust.seen
      scan.selectedPartitions.filePartitionIterator.flatMap(_.files).foldLeft(none) { (found, file) =>
        val seen = found.copy(files = found.files + 1, allBytes = found.allBytes + file.getLen)
        val name = file.getPath.getName
        val isStray = known.of(file.fileStatus)
        if (bucketOf(name, isStray, evidence, trust).isDefined) {
          seen.copy(othersUnknown = seen.othersUnknown || trust.isUnknown(isStray))
        } else {
          val names = if (found.count < Named) found.names :+ name else found.names
          seen.copy(count = found.count + 1, bytes = found.bytes + file.getLen, names = names)
        }
      }
  }

  private def ofDelta(scan: FileSourceScanLike, evidence: Evidence): Strays = {
    val known = FileTrust(scan.relation, evidence).seen
    val files = scan.selectedPartitions.toPartitionArray.toSeq
    val strays = files.filter(known.isStray)
    Strays(strays.size, strays.map(_.fileSize).sum, strays.take(Named).map(_.toPath.getName), files.size,
      files.map(_.fileSize).sum)
  }

  /**
   * The bucket of a native file in planning; None for a stray.
   *
   * @param isStray what the manifest says of the file
   */
  def bucketOf(name: String, isStray: Option[Boolean], evidence: Evidence, trust: FileTrust): Option[Int] =
    BucketFileName
      .bucketOf(name, evidence.layout.buckets)
      .filterNot(_ => isStray.getOrElse(false) || trust.staysUnchecked(isStray))
}
