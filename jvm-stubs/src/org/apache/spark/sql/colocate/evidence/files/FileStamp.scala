package org.apache.spark.sql.colocate.evidence.files

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.execution.datasources.PartitionedFile

/**
 * A file as it was when it was written or checked. A file that is replaced under its name has another length or time.
 *
 * @param path     relative to the table's root, or absolute if the partition has another location
 * @param modified milliseconds since 1970, as the file system gives them
 */
case class FileStamp(path: String, length: Long, modified: Long)

object FileStamp {

  def of(root: Path, file: PartitionedFile): FileStamp =
    FileStamp(relative(root, file.toPath), file.fileSize, file.modificationTime)

  def of(root: Path, file: FileStatus): FileStamp =
    FileStamp(relative(root, file.getPath), file.getLen, file.getModificationTime)

  private def relative(root: Path, file: Path): String = {
    val below = s"${root.toUri.getPath.stripSuffix("/")}/"
    val path = file.toUri.getPath
    val sameStore = root.toUri.getScheme == null || root.toUri.getScheme == file.toUri.getScheme
    if (sameStore && path.startsWith(below)) path.substring(below.length) else file.toString
  }
}
