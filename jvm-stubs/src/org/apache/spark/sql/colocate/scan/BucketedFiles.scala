package org.apache.spark.sql.colocate.scan

import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.evidence.verify.{CheckInTask, FileTrust, FileVerification}
import org.apache.spark.sql.colocate.layout.{BucketSource, Evidence}
import org.apache.spark.sql.colocate.partitioning.{BinPacking, TaskSlices}
import org.apache.spark.sql.execution.datasources.{FilePartition, HadoopFsRelation, PartitionedFile}
import org.apache.spark.util.collection.BitSet

/**
 * The files of a scan, sorted into the buckets of its evidence; each file is in one bucket or a stray. A Delta file
 * that does not fit its table's evidence is never read: operators that group by file or row rely on it.
 *
 * @param selected the buckets that the query needs; all of them if None
 * @param later    may tasks check what they read? See CheckWhileReading
 */
case class BucketedFiles(
    files: Seq[PartitionedFile],
    evidence: Evidence,
    selected: Option[BitSet],
    trust: FileTrust,
    later: Boolean = false) {
  import BucketedFiles.bucketOf

  private lazy val (named: Seq[(Int, PartitionedFile)], unnamed: Seq[PartitionedFile]) = {
    val (named, unnamed) = files.map(file => bucketOf(file, evidence) -> file).partition(_._1.isDefined)
    (named.collect { case (Some(bucket), file) => bucket -> file }, unnamed.map(_._2))
  }

  private lazy val judged: FileVerification = {
    val claims = named.map(_.swap)
    if (later) trust.judge(claims) else trust.judgeNow(claims)
  }

  /** Files whose rows must be checked by the tasks that read them. */
  def unchecked: Set[PartitionedFile] = judged.unchecked

  private lazy val (located: Seq[(Int, PartitionedFile)], strays: Seq[PartitionedFile]) = sorted

  /** The files to read of known buckets, and the strays. */
  protected def sorted: (Seq[(Int, PartitionedFile)], Seq[PartitionedFile]) = {
    val (strays, known) = named.partition { case (_, file) => judged.strays(file) }
    val read = known.collect { case (bucket, file) if selected.forall(_.get(bucket)) =>
      bucket -> (if (judged.unchecked(file)) CheckInTask.mark(file) else file)
    }
    (read, unnamed ++ strays.map(_._2))
  }

  /** What is left to read, under Spark's names for it. */
  def selectedSize: Map[String, Long] = {
    val read = located.map(_._2) ++ strays
    Map("numFiles" -> read.size.toLong, "filesSize" -> read.map(_.length).sum)
  }

  /** One FilePartition for each task, in order, empty ones included: bucket b is read by task b mod `tasks`. */
  def byBucket(tasks: Int): Seq[FilePartition] = {
    require(evidence.layout.buckets % tasks == 0, s"${evidence.layout.buckets} buckets can't be read as $tasks")
    val byTask = located.groupMap(_._1 % tasks)(_._2)
    Seq.tabulate(tasks)(task => FilePartition(task, byTask.getOrElse(task, Nil).toArray))
  }

  /** One FilePartition for each bucket that has files. */
  def byFilledBucket: Seq[FilePartition] =
    located.groupMap(_._1)(_._2).toSeq.sortBy(_._1).zipWithIndex.map { case ((_, files), task) =>
      FilePartition(task, files.toArray)
    }

  /**
   * One FilePartition for each task. The files of a split residue are distributed over its parts, cut where possible.
   */
  def byShare(shares: TaskSlices, split: Boolean, relation: HadoopFsRelation): Seq[FilePartition] = {
    require(strays.isEmpty, s"${evidence.table} has strays, which have no share")
    require(shares.coverAll, s"not every bucket has its task: $shares")
    require(
      evidence.layout.buckets % shares.residues == 0,
      s"${evidence.layout.buckets} buckets in ${shares.residues} residues")
    val byResidue = located.groupMap(_._1 % shares.residues)(_._2).withDefaultValue(Nil)
    val parts = shares.tasks.filter(_.parts > 1).map(task => task.residues.head -> task.parts).distinct.map {
      case (residue, count) =>
        residue -> (if (split) cut(byResidue(residue), count, relation) else Seq.fill(count)(byResidue(residue)))
    }.toMap
    shares.tasks.zipWithIndex.map { case (task, index) =>
      val files = if (task.parts > 1) parts(task.residues.head)(task.part) else task.residues.flatMap(byResidue)
      FilePartition(index, files.toArray)
    }
  }

  private def cut(files: Seq[PartitionedFile], parts: Int, relation: HadoopFsRelation): Seq[Seq[PartitionedFile]] = {
    val rowGroups = RowGroups(relation)
    val ranges = files.flatMap(file => rowGroups.ranges(file.toPath, file.length).map(file -> _))
    val pieces = ranges.map(_._1).zip(rowGroups.turns(ranges.map(_._2), parts)).flatMap { case (file, turns) =>
      turns.map(file -> _)
    }
    BinPacking.distribute(pieces, parts)(_._2.work).map(_.map { case (file, turn) => turn.of(file) })
  }

  /** Packed by bytes as an ordinary scan packs them, strays among them. */
  def byBytes(relation: HadoopFsRelation): Seq[FilePartition] = packed(relation, located.map(_._2) ++ strays)

  /** Only the strays; whatever buckets a query needs, their rows may belong to them. */
  def straysByBytes(relation: HadoopFsRelation): Seq[FilePartition] = packed(relation, strays)

  private def packed(relation: HadoopFsRelation, wanted: Seq[PartitionedFile]): Seq[FilePartition] = {
    val session = relation.sparkSession
    val openCost = session.sessionState.conf.filesOpenCostInBytes
    val maxSplitBytes = FilePartition.maxSplitBytes(session, wanted.map(_.length + openCost).sum)
    val splits = wanted.flatMap { file =>
      if (relation.fileFormat.isSplitable(session, relation.options, file.toPath)) split(file, maxSplitBytes)
      else Seq(file)
    }
    FilePartition.getFilePartitions(session, splits.sortBy(-_.length), maxSplitBytes)
  }

  private def split(file: PartitionedFile, maxSplitBytes: Long): Seq[PartitionedFile] =
    (0L until file.length by maxSplitBytes).map { offset =>
      file.copy(start = file.start + offset, length = maxSplitBytes.min(file.length - offset))
    }
}

object BucketedFiles {

  /** None for a stray. */
  private def bucketOf(file: PartitionedFile, evidence: Evidence): Option[Int] = evidence.source match {
    case BucketSource.FileName => evidence.bucketOf(file)
    case _: BucketSource.PartitionValue => evidence.bucketOf(file).orElse(throw misplaced(file, evidence))
  }

  private def misplaced(file: PartitionedFile, evidence: Evidence): ColocateException =
    new ColocateException(
      "FILE_WITHOUT_BUCKET",
      s"Cannot read ${evidence.table} by bucket: the file ${file.urlEncodedPath} names none of the " +
        s"${evidence.layout.numbers} buckets that the table's layout promises. Nothing was returned. " +
        "SET disable_colocate_join = true reads the table without its layout; then rewrite the file's rows.")
}
