package org.apache.spark.sql.colocate.ops.hosts

import java.net.InetSocketAddress
import java.util
import scala.util.Try

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Options.ChecksumOpt
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.fs.{CreateFlag, FSDataOutputStream, Path}
import org.apache.hadoop.hdfs.DistributedFileSystem
import org.apache.hadoop.util.Progressable

/**
 * HDFS, which is asked to put the blocks of a new bucket file on the hosts of its bucket ("favored nodes"). It is used
 * where the configuration names it: `spark.hadoop.fs.hdfs.impl`. Every other file, and every other call, is as with
 * Hadoop's own class.
 *
 * It is only a request: HDFS takes another host for one that is down, full or busy. The class is in Spark's package so
 * that Hive's client finds it, which has a class loader of its own.
 */
class FavoredNodesFileSystem extends DistributedFileSystem {

  // The calls with fewer arguments all end here.
  override def create(
      file: Path,
      permission: FsPermission,
      flags: util.EnumSet[CreateFlag],
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable,
      checksum: ChecksumOpt): FSDataOutputStream = {
    val nodes = if (checksum == null && isPlain(flags)) nodesOf(file) else Array.empty[InetSocketAddress]
    if (nodes.isEmpty) super.create(file, permission, flags, bufferSize, replication, blockSize, progress, checksum)
    else {
      val overwrite = flags.contains(CreateFlag.OVERWRITE)
      create(file, permission, overwrite, bufferSize, replication, blockSize, progress, nodes)
    }
  }

  // Hadoop's call with favored nodes takes no other flags.
  private def isPlain(flags: util.EnumSet[CreateFlag]): Boolean =
    flags.contains(CreateFlag.CREATE) && util.EnumSet.of(CreateFlag.CREATE, CreateFlag.OVERWRITE).containsAll(flags)

  private def nodesOf(file: Path): Array[InetSocketAddress] = FavoredNodes.addresses(getConf, TaskHosts.of(file))
}

private[colocate] object FavoredNodes {

  /** The hosts as HDFS wants them. The name node resolves the names; it takes a data node at another port, too. */
  def addresses(conf: Configuration, hosts: Seq[String]): Array[InetSocketAddress] = {
    val port = Try(conf.get("dfs.datanode.address", "").split(":").last.toInt).getOrElse(9866)
    hosts.filterNot(_.contains(":")).map(InetSocketAddress.createUnresolved(_, port)).toArray
  }
}
