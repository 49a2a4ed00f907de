package org.apache.spark.sql.colocate.evidence.verify

import java.io.Closeable

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.colocate.evidence.Evidence
import org.apache.spark.sql.colocate.evidence.files.FileStamp
import org.apache.spark.sql.execution.datasources.PartitionedFile

/**
 * The check of a scan's rows by the tasks that read them, which costs a hash for each row and no second reading. Rows
 * that a pushed filter leaves away are not in the query, so they are not in its way; but a file is known for good only
 * where none is pushed.
 *
 * @param log          takes strays and, where each row is read, files without a wrong one; None: nothing is kept
 * @param readsEachRow is no filter pushed that leaves rows away?
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

  /** The iterator may hold batches in the guise of rows, as Spark's own readers do. */
  private class Checked(file: PartitionedFile, rows: Iterator[Any]) extends Iterator[Any] with Closeable {
    private val bucket = evidence.bucketOf(file).get
    private val claimed = BucketMatcher(bucket, evidence.layout.buckets)
    private val open = hash.open()

    override def hasNext: Boolean = rows.hasNext || {
      if (readsEachRow && isWhole) note(isStray = false)
      false
    }

    // A wrong row is thrown here: of what hasNext throws, Spark says that the file can't be read.
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

  /** A file whose rows are to be checked by who reads it. */
  def mark(file: PartitionedFile): PartitionedFile =
    file.copy(otherConstantMetadataColumnValues = file.otherConstantMetadataColumnValues + (Key -> true))
}
