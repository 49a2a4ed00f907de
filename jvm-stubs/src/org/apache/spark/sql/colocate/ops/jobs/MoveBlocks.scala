package org.apache.spark.sql.colocate.ops.jobs

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.Json.formats
import org.apache.spark.util.SerializableConfiguration
import org.json4s.JValue

/** Counts the files on HDFS with blocks that do not lie on their bucket's hosts, and the bytes, by bucket. */
private[jobs] object MisplacedBlocks extends JobTask {

  override def run(session: SparkSession, table: JobTable, args: JValue): Any =
    BlocksOf.table(session, table).fold(Seq.empty[Map[String, Any]]) { blocks =>
      val hosts = (args \ "hosts").extract[Seq[Seq[String]]]
      blocks.files.flatMap { case (file, bucket) =>
        val bytes = hosts.lift(bucket).toSeq.flatMap(blocks.replicas.misplaced(file, _)).map(_.block.getBlockSize).sum
        Option.when(bytes > 0)(bucket -> bytes)
      }.groupMap(_._1)(_._2).toSeq.sortBy(_._1).map { case (bucket, bytes) =>
        Map("bucket" -> bucket, "files" -> bytes.size, "bytes" -> bytes.sum)
      }
    }
}

/**
 * Moves the blocks of the files of some buckets to these hosts; a second time it finds them there. Elsewhere than on
 * HDFS there is nothing to do. `left` has the ten most frequent reasons why some stay where they are, each with its
 * buckets.
 */
private[jobs] object MoveBlocks extends JobTask {

  override def run(session: SparkSession, table: JobTable, args: JValue): Any = {
    val hosts = (args \ "moves").children.map { move =>
      (move \ "bucket").extract[Int] -> (move \ "hosts").extract[Seq[String]]
    }.toMap
    val left = BlocksOf.table(session, table).fold(Seq.empty[(Int, String)])(blocks => stay(session, blocks, hosts))
    val buckets = left.distinct.groupMap(_._2)(_._1).toSeq.sortBy { case (why, of) => (-of.size, why) }
    Map("left" -> buckets.take(10).map { case (why, of) => Map[String, Any]("why" -> why, "buckets" -> of.sorted) })
  }

  private def stay(session: SparkSession, blocks: BlocksOf, hosts: Map[Int, Seq[String]]): Seq[(Int, String)] = {
    val files = blocks.files.collect { case (file, bucket)
      if hosts.get(bucket).exists(blocks.replicas.misplaced(file, _).nonEmpty) => (file, bucket, hosts(bucket))
    }
    val refusal = if (files.isEmpty) None else HdfsReplicas.refusal(blocks.conf.value)
    refusal.fold(inTasks(session, blocks, files))(why => files.map { case (_, bucket, _) => bucket -> why })
  }

  /** What [[HdfsReplicas.move]] says where it did not. Tasks, so that whoever cancels the job stops it. */
  private def inTasks(
      session: SparkSession, blocks: BlocksOf, files: Seq[(Path, Int, Seq[String])]): Seq[(Int, String)] = {
    val (conf, root) = (session.sparkContext.broadcast(blocks.conf), blocks.root.toString)
    val tasks = files.map { case (file, bucket, hosts) => (file.toString, bucket, hosts) -> hosts }
    session.sparkContext.makeRDD[(String, Int, Seq[String])](tasks).flatMap { case (file, bucket, hosts) =>
      val replicas = HdfsReplicas.of(conf.value.value, new Path(root)).get
      replicas.misplaced(new Path(file), hosts).flatMap(replicas.move).map(bucket -> _)
    }.collect().toSeq
  }
}

/** The files in the folder of a table on HDFS, each with its bucket, and their paths there. */
private[jobs] case class BlocksOf(
    root: Path, conf: SerializableConfiguration, replicas: HdfsReplicas, files: Seq[(Path, Int)])

private[jobs] object BlocksOf {

  /** None for a table that lies elsewhere. Its files are not listed then. */
  def table(session: SparkSession, table: JobTable): Option[BlocksOf] = {
    val entry = session.sessionState.catalog.getTableMetadata(TableIdentifier(table.table, Some(table.db)))
    val (root, conf) = (new Path(entry.location), session.sessionState.newHadoopConf())
    HdfsReplicas.of(conf, root).map { replicas =>
      // Files of another table, as in a shallow clone, stay where that table has them.
      val files = for {
        (file, bucket) <- MemberScan.of(session, table).claims
        within <- StrayParts.within(root, file.toPath)
      } yield new Path(replicas.folder, within) -> bucket
      BlocksOf(root, new SerializableConfiguration(conf), replicas, files)
    }
  }
}
