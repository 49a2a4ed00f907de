package org.apache.spark.sql.colocate.testing

import java.net.URI
import java.nio.file.{Files, Path => LocalPath}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{ChecksumFs, DelegateToFileSystem, FileStatus, FsConstants, FsServerDefaults}
import org.apache.hadoop.fs.{LocalFileSystem, Path, RawLocalFileSystem}
import org.apache.hadoop.fs.local.LocalConfigKeys
import org.apache.hadoop.fs.permission.FsPermission

/** Hadoop's local files, without a process for the mode of each file and for each link: a statement of Delta starts
  * fifty to a hundred of these where Hadoop's native library is missing, as it is in Spark. tests/hadoop_defaults.py
  * makes it the file system of the tests' JVMs.
  */
class LocalFiles extends LocalFileSystem(new RawLocalFiles)

/** The same for Hadoop's FileContext, by which Delta writes its log. */
class LocalFilesOfContext(uri: URI, conf: Configuration) extends ChecksumFs(new RawLocalFilesOfContext(conf))

class RawLocalFiles extends RawLocalFileSystem {

  override def setPermission(path: Path, permission: FsPermission): Unit = {
    val _ = Files.setAttribute(local(path), "unix:mode", permission.toShort.toInt)
  }

  override def getFileLinkStatus(path: Path): FileStatus =
    if (Files.isSymbolicLink(local(path))) super.getFileLinkStatus(path) else getFileStatus(path)

  private def local(path: Path): LocalPath = pathToFile(path).toPath
}

class RawLocalFilesOfContext(conf: Configuration)
    extends DelegateToFileSystem(FsConstants.LOCAL_FS_URI, new RawLocalFiles, conf, "file", false) {
  override def getUriDefaultPort: Int = -1
  override def getServerDefaults(path: Path): FsServerDefaults = LocalConfigKeys.getServerDefaults
  override def isValidName(name: String): Boolean = true
}
