package org.apache.spark.sql.colocate.jobs

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.conf.Json.formats
import org.apache.spark.util.SerializableConfiguration
import org.json4s.JValue

/** By bucket: how many files on HDFS have blocks that do not lie on the bucket's hosts, with the bytes of these. */
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
 * Moves the blocks of a bucket's files to these hosts; a second time it finds them there. Elsewhere than on HDFS there
 * is nothing to do. `moved` counts replicas, `left` has the reasons why others stay where they are.
 */
private[jobs] object MoveBlocks extends JobTask {

  override def run(session: SparkSession, table: JobTable, args: JValue): Any = {
    val (bucket, hosts) = ((args \ "bucket").extract[Int], (args \ "hosts").extract[Seq[String]])
    val moved = BlocksOf.table(session, table).fold(Seq.empty[Option[String]]) { blocks =>
      val ofBucket = blocks.files.collect { case (file, `bucket`) => file }
      val files = ofBucket.filter(blocks.replicas.misplaced(_, hosts).nonEmpty)
      if (files.isEmpty) Nil
      else HdfsReplicas.refusal(blocks.conf.value).fold(inTasks(session, blocks, files, hosts))(why => Seq(Some(why)))
    }
    Map[String, Any]("moved" -> moved.count(_.isEmpty), "left" -> moved.flatten.distinct.take(3))
  }

  /** For each replica what [[HdfsReplicas.move]] says. Tasks, so that whoever cancels the job stops it. */
  private def inTasks(
      session: SparkSession, blocks: BlocksOf, files: Seq[Path], hosts: Seq[String]): Seq[Option[String]] = {
    val (conf, root) = (session.sparkContext.broadcast(blocks.conf), blocks.root.toString)
    session.sparkContext.makeRDD[String](files.map(file => file.toString -> hosts)).flatMap { file =>
      val replicas = HdfsReplicas.of(conf.value.value, new Path(root)).get
      replicas.misplaced(new Path(file), hosts).map(replicas.move)
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
