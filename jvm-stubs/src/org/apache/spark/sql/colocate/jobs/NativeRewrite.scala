package org.apache.spark.sql.colocate.jobs

import java.util.{Locale, UUID}
import scala.util.control.NonFatal

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.SaveMode
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.{Dataset, SparkSession}
import org.apache.spark.sql.colocate.evidence.files.{FileStamp, OrcTimes}
import org.apache.spark.sql.colocate.evidence.manifest.Manifest
import org.apache.spark.sql.colocate.keys.Rewritten
import org.apache.spark.sql.colocate.write.hosts.WrittenMember
import org.apache.spark.sql.colocate.write.{BucketedWrite, LossyTimes}
import org.apache.spark.sql.execution.datasources.{
  HadoopFsRelation, InMemoryFileIndex, InsertIntoHadoopFsRelationCommand, LogicalRelation, PartitionedFile
}
import org.apache.spark.sql.types.StructType

/**
 * The rows of the strays in one folder of a native table, written into files of their buckets beside the table's own.
 * A folder has no commit: like INSERT OVERWRITE of Spark's, the last part, a few renames and deletions, can be seen by
 * a query that lists the folder in this moment. If the driver ends meanwhile, the next repair finishes it.
 */
private[jobs] case class NativeRewrite(session: SparkSession, scan: MemberScan, part: String) {

  private val fs = UnfinishedRewrites.fileSystem(session, scan)
  private val folder: Path = fs.makeQualified(if (part.isEmpty) scan.root else new Path(scan.root, part))
  private val relation: HadoopFsRelation = scan.relation

  def run(): Rewritten = {
    UnfinishedRewrites.finish(session, scan, folder)
    val strays = scan.strays.filter(_.toPath.getParent == folder).filter(file => fs.exists(file.toPath))
    if (strays.isEmpty) Rewritten(0, 0) else rewrite(strays)
  }

  private def rewrite(strays: Seq[PartitionedFile]): Rewritten = {
    val work = RewriteJournal.workFolder(scan.root, UUID.randomUUID().toString)
    val journal = removedOnFailure(work)(prepared(strays, work))
    if (journal.finish(fs, work)) {
      record(journal.files.map(name => fs.getFileStatus(new Path(folder, name))))
      Rewritten(strays.size, journal.files.size)
    } else Rewritten(0, 0)
  }

  /** The new files, and what is to be done with them; nothing of the table has changed yet. */
  private def prepared(strays: Seq[PartitionedFile], work: Path): RewriteJournal = {
    val fresh = new Path(work, RewriteJournal.NewFiles)
    write(strays, fresh)
    val journal = RewriteJournal(
      folder.toString,
      dataFiles(fresh).map(_.getPath.getName).toList,
      strays.map(file => StrayEntry(file.toPath.getName, file.fileSize, file.modificationTime)).toList)
    RewriteJournal.save(fs, work, journal)
    journal
  }

  private def removedOnFailure[A](work: Path)(prepare: => A): A =
    try prepare
    catch {
      case e @ (NonFatal(_) | _: InterruptedException) =>
        try fs.delete(work, true)
        catch { case NonFatal(left) => e.addSuppressed(left) }
        throw e
    }

  private def dataFiles(in: Path): Seq[FileStatus] =
    if (!fs.exists(in)) Nil
    else fs.listStatus(in).toSeq.filter(f => f.isFile && !f.getPath.getName.startsWith("_"))

  private def write(strays: Seq[PartitionedFile], to: Path): Unit = {
    val rows = read(strays)
    val spec = relation.bucketSpec.get
    def column(name: String) = rows.output.find(_.name == name).get
    val sorted = BucketedWrite.native(
      rows, spec.bucketColumnNames.map(column), spec.numBuckets, spec.sortColumnNames.map(column),
      scan.table.flatMap(WrittenMember.ofNative))
    Dataset.ofRows(session, InsertIntoHadoopFsRelationCommand(
      outputPath = to,
      staticPartitions = Map.empty,
      ifPartitionNotExists = false,
      partitionColumns = Nil,
      bucketSpec = Some(spec),
      fileFormat = relation.fileFormat,
      options = relation.options,
      query = sorted,
      mode = SaveMode.Append,
      catalogTable = None,
      fileIndex = None,
      outputColumnNames = rows.output.map(_.name)))
  }

  /** The files alone, without their partition's values, which the folder gives again. */
  private def read(files: Seq[PartitionedFile]): LogicalPlan = {
    val schema = relation.dataSchema
    // A file that can't be read must fail: its rows would be lost.
    val options = relation.options.filterNot { case (key, _) => key.toLowerCase(Locale.ROOT).startsWith("ignore") }
    val index = new InMemoryFileIndex(session, files.map(_.toPath), options, Some(schema))
    LogicalRelation(HadoopFsRelation(index, new StructType, schema, None, relation.fileFormat, options)(session))
  }

  private def record(files: Seq[FileStatus]): Unit = {
    val layout = scan.evidence.layout
    val conf = session.sessionState.conf
    val isExact = layout.keyTypes.forall(LossyTimes.of(conf, _).isEmpty) &&
      !OrcTimes.mayChange(relation.fileFormat, layout)
    if (isExact) {
      val hadoopConf = session.sessionState.newHadoopConfWithOptions(relation.options)
      Manifest.add(hadoopConf, scan.root, layout, files.map(FileStamp.of(scan.root, _) -> false).toMap)
    }
  }
}
