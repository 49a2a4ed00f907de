package org.apache.spark.sql.colocate.ops.jobs

import java.io.{BufferedOutputStream, DataOutputStream, FileNotFoundException, IOException}
import java.net.{InetAddress, InetSocketAddress, Socket}
import java.util.UUID
import scala.annotation.tailrec
import scala.jdk.CollectionConverters._
import scala.util.{Try, Using}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.hdfs.DistributedFileSystem
import org.apache.hadoop.hdfs.protocol.datatransfer.{DataTransferProtoUtil, Sender}
import org.apache.hadoop.hdfs.protocol.proto.DataTransferProtos.{BlockOpResponseProto, Status}
import org.apache.hadoop.hdfs.protocol.{DatanodeInfo, DatanodeInfoWithStorage, LocatedBlock}
import org.apache.hadoop.hdfs.protocolPB.PBHelperClient
import org.apache.hadoop.security.UserGroupInformation
import org.apache.spark.sql.colocate.ops.hosts.{FavoredNodes, WrittenMember}

/** A replica of a block that should lie on another host. */
private[jobs] case class Misplaced(block: LocatedBlock, from: DatanodeInfoWithStorage, to: String)

/**
 * Moves replicas of blocks between HDFS' data nodes, in the way of HDFS' own balancer: a data node is asked to copy a
 * block from another one, which then gives its replica up. Files keep their names, their bytes and their readers; data
 * nodes limit the rate (`dfs.datanode.balance.bandwidthPerSec`).
 *
 * @param folder a table's, where a small file may be made for a moment
 */
private[jobs] class HdfsReplicas(hdfs: DistributedFileSystem, val folder: Path) {

  /** The replicas of a file that do not lie on the first of these hosts; none of a file that is gone. */
  def misplaced(file: Path, hosts: Seq[String]): Seq[Misplaced] =
    try blocks(file).flatMap(misplaced(_, hosts))
    catch { case _: FileNotFoundException => Nil }

  private def blocks(file: Path): Seq[LocatedBlock] =
    hdfs.getClient.getLocatedBlocks(file.toUri.getPath, 0, Long.MaxValue).getLocatedBlocks.asScala.toSeq

  private def misplaced(block: LocatedBlock, hosts: Seq[String]): Seq[Misplaced] = {
    val replicas = block.getLocations.toSeq
    val wanted = hosts.take(replicas.size).filterNot(host => replicas.exists(isOn(_, host)))
    val spare = replicas.filterNot(replica => hosts.exists(isOn(replica, _)))
    // The parts of an erasure-coded block are all needed, each where it is.
    if (block.isStriped) Nil else spare.zip(wanted).map { case (from, to) => Misplaced(block, from, to) }
  }

  /** Why it could not be moved; None if it was. */
  def move(one: Misplaced): Option[String] = nodeOn(one.to) match {
    case None => Some(s"HDFS has no data node on ${one.to} that takes blocks")
    case Some(target) if losesRack(one, target) =>
      Some(s"from ${one.from.getHostName} to ${one.to} some would lie on fewer racks")
    case Some(target) =>
      try { replace(one, target); None }
      catch { case e: IOException => Some(s"${one.from.getHostName} to ${one.to}: ${e.getMessage}") }
  }

  /** The name node would then give up another replica, perhaps the new one. */
  private def losesRack(one: Misplaced, target: DatanodeInfo): Boolean = {
    val before: Seq[DatanodeInfo] = one.block.getLocations.toSeq
    def racks(nodes: Seq[DatanodeInfo]) = nodes.map(_.getNetworkLocation).distinct.size
    racks(before.filterNot(_ eq one.from) :+ target) < racks(before)
  }

  private def replace(one: Misplaced, target: DatanodeInfo): Unit = Using.resource(new Socket) { socket =>
    socket.connect(new InetSocketAddress(target.getIpAddr, target.getXferPort), HdfsReplicas.TimeoutMillis)
    // While it copies, the data node says every half of its own read timeout (a minute) that it is not done yet.
    socket.setSoTimeout(5 * HdfsReplicas.TimeoutMillis)
    val out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream))
    new Sender(out).replaceBlock(
      one.block.getBlock, one.from.getStorageType, one.block.getBlockToken, one.from.getDatanodeUuid, one.from, null)
    out.flush()
    DataTransferProtoUtil.checkBlockOpStatus(response(socket), "replaceBlock")
  }

  @tailrec
  private def response(socket: Socket): BlockOpResponseProto = {
    val next = BlockOpResponseProto.parseFrom(PBHelperClient.vintPrefixed(socket.getInputStream))
    if (next.getStatus == Status.IN_PROGRESS) response(socket) else next
  }

  private val nodes = new java.util.HashMap[String, Option[DatanodeInfo]]

  private def nodeOn(host: String): Option[DatanodeInfo] = nodes.computeIfAbsent(host, probe(_))

  /** The list of data nodes is for superusers only. But anybody may write a file and look up the nodes it lies on. */
  private def probe(host: String): Option[DatanodeInfo] = {
    val file = new Path(folder, s".probe-${UUID.randomUUID()}")
    try {
      val wish = FavoredNodes.addresses(hdfs.getConf, Seq(host))
      val size = hdfs.getDefaultBlockSize(file)
      Using.resource(
        hdfs.create(file, FsPermission.getFileDefault, true, 4096, 1.toShort, size, null, wish))(_.write(0))
      blocks(file).flatMap(_.getLocations).find(isOn(_, host))
    } finally hdfs.delete(file, false)
  }

  private def isOn(node: DatanodeInfo, host: String): Boolean =
    node.getHostName == host || node.getIpAddr == host || addressOf(host).contains(node.getIpAddr)

  private val addresses = new java.util.HashMap[String, Option[String]]

  private def addressOf(host: String): Option[String] =
    addresses.computeIfAbsent(host, name => Try(InetAddress.getByName(name).getHostAddress).toOption)
}

private[jobs] object HdfsReplicas {

  private val TimeoutMillis = 60 * 1000

  /** None if the folder lies elsewhere, where a file is on no host. */
  def of(conf: Configuration, root: Path): Option[HdfsReplicas] =
    if (!WrittenMember.isHdfs(root)) None
    else {
      val folder = root.getFileSystem(conf).resolvePath(root)
      folder.getFileSystem(conf) match {
        case hdfs: DistributedFileSystem => Some(new HdfsReplicas(hdfs, folder))
        case _ => None
      }
    }

  /**
   * Why blocks can't be moved; None if they can. Where data nodes want to know who asks them, only HDFS itself has the
   * keys for a move.
   */
  def refusal(conf: Configuration): Option[String] = {
    val guarded = Seq("dfs.block.access.token.enable", "dfs.encrypt.data.transfer").filter(conf.getBoolean(_, false))
    if (UserGroupInformation.isSecurityEnabled) Some("HDFS is secured with Kerberos")
    else guarded.headOption.map(key => s"$key is true")
  }
}
