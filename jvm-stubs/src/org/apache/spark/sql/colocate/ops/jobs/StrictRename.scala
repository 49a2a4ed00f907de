package org.apache.spark.sql.colocate.ops.jobs

import java.io.IOException
import java.nio.file.{Files, Path => LocalPath, Paths}
import java.nio.file.StandardCopyOption.ATOMIC_MOVE

import org.apache.hadoop.fs.{FileSystem, Path}

/**
 * Renames in one step, and fails if the source or the target's folder is gone. Hadoop's local file system does not:
 * where the folder is missing, it makes one and copies the file.
 */
private[jobs] object StrictRename {

  def apply(fs: FileSystem, from: Path, to: Path): Unit =
    if (fs.getUri.getScheme == "file") local(from, to)
    else if (!fs.rename(from, to)) throw new IOException(s"$from could not be renamed to $to")

  private def local(from: Path, to: Path): Unit = {
    Files.move(located(from), located(to), ATOMIC_MOVE)
    val sum = located(checksum(from))
    if (Files.exists(sum)) Files.move(sum, located(checksum(to)), ATOMIC_MOVE)
  }

  private def located(path: Path): LocalPath = Paths.get(path.toUri.getPath)

  /** Hadoop's local file system keeps one beside each file. */
  private def checksum(path: Path): Path = new Path(path.getParent, s".${path.getName}.crc")
}
