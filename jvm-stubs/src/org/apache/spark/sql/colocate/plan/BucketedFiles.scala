package org.apache.spark.sql.colocate.plan

import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.layout.{BucketSource, Evidence, NativeEvidence}
import org.apache.spark.sql.execution.datasources.{FilePartition, PartitionedFile}
import org.apache.spark.util.collection.BitSet

/** Sorts the files of a scan into its buckets. Fails closed: a file that no longer fits the evidence is never read. */
object BucketedFiles {

  /** One FilePartition for each task, in order, empty ones included: bucket b is read by task b mod `tasks`. */
  def group(
      files: Array[PartitionedFile],
      evidence: Evidence,
      selected: Option[BitSet],
      tasks: Int): Seq[FilePartition] = {
    require(evidence.layout.buckets % tasks == 0, s"${evidence.layout.buckets} buckets can't be read as $tasks")
    val located = files.map(file => bucketOf(file, evidence) -> file)
    val byTask = located.filter { case (bucket, _) => selected.forall(_.get(bucket)) }.groupMap(_._1 % tasks)(_._2)
    Seq.tabulate(tasks)(task => FilePartition(task, byTask.getOrElse(task, Array.empty)))
  }

  private def bucketOf(file: PartitionedFile, evidence: Evidence): Int = {
    val bucket = evidence.source match {
      // The null check comes first: getInt of a null gives 0.
      case BucketSource.PartitionValue(ordinal) =>
        Option.when(!file.partitionValues.isNullAt(ordinal))(file.partitionValues.getInt(ordinal))
      case BucketSource.FileName => NativeEvidence.bucketOf(file.toPath.getName, evidence.layout.buckets)
    }
    bucket.filter(b => b >= 0 && b < evidence.layout.buckets).getOrElse(throw misplaced(file, evidence))
  }

  private def misplaced(file: PartitionedFile, evidence: Evidence): ColocateException =
    new ColocateException(
      "FILE_WITHOUT_BUCKET",
      s"Cannot read ${evidence.table} by bucket: the file ${file.urlEncodedPath} names no bucket in " +
        s"[0, ${evidence.layout.buckets}), although the table's layout promises one. Nothing was returned. " +
        "SET disable_colocate_join = true reads the table without its layout; then rewrite the file's rows.")
}
