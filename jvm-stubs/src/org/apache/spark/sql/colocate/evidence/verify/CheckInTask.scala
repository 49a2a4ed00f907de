package org.apache.spark.sql.colocate.evidence.verify

import java.io.Closeable

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.colocate.evidence.files.FileStamp
import org.apache.spark.sql.colocate.layout.Evidence
import org.apache.spark.sql.execution.datasources.PartitionedFile

/**
 * The check of a scan's rows by the tasks that read them, which costs a hash for each row and no second reading. Rows
 * that a pushed filter drops are not in the query, so they need no check; but a file counts as checked only if no
 * filter is pushed.
 *
 * @param log          receives strays and, if each row is read, files without a wrong one; None: nothing is kept
 * @param readsEachRow whether no pushed filter skips rows
 */
case class CheckInTask(
    evidence: Evidence,
    hash: KeyHash,
    log: Option[CheckLog],
    readsEachRow: Boolean) {
  import CheckInTask.isMarked

  def reader(read: PartitionedFile => Iterator[InternalRow]): PartitionedFile => Iterator[InternalRow] = { file =>
    val rows = read(file)
    if (isMarked(file)) new Checked(file, rows).asInstanceOf[Iterator[InternalRow]] else rows
  }

  /** The iterator may hold batches that are typed as rows, as in Spark's own readers. */
  private class Checked(file: PartitionedFile, rows: Iterator[Any]) extends Iterator[Any] with Closeable {
    private val bucket = evidence.bucketOf(file).get
    private val claimed = BucketMatcher(bucket, evidence.layout.buckets)
    private val open = hash.open()

    override def hasNext: Boolean = rows.hasNext || {
      if (readsEachRow && isWhole) note(isStray = false)
      false
    }

    // The error for a wrong row is thrown here: Spark reports an error in hasNext as an unreadable file.
    override def next(): Any = {
      val item = rows.next()
      open.other(item, claimed).foreach { found =>
        note(isStray = true)
        throw WrongBucketException.of(evidence, file, bucket, found)
      }
      item
    }

    override def close(): Unit = rows match {
      case closeable: Closeable => closeable.close()
      case _ =>
    }

    private def isWhole: Boolean = file.start == 0 && file.length == file.fileSize

    private def note(isStray: Boolean): Unit =
      log.foreach(_.add(FileStamp.of(new Path(evidence.root), file) -> isStray))
  }
}

object CheckInTask {
  private val Key = "_colocate_check"

  private def isMarked(file: PartitionedFile): Boolean = file.otherConstantMetadataColumnValues.contains(Key)

  /** Marks a file whose rows the reading task must check. */
  def mark(file: PartitionedFile): PartitionedFile =
    file.copy(otherConstantMetadataColumnValues = file.otherConstantMetadataColumnValues + (Key -> true))
}
