package org.apache.spark.sql.colocate.ops.jobs

import java.util.Locale
import scala.util.control.NonFatal

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.SaveMode
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.{Dataset, SparkSession}
import org.apache.spark.sql.colocate.compat.TestHook
import org.apache.spark.sql.colocate.evidence.files.{FileStamp, OrcTimes}
import org.apache.spark.sql.colocate.evidence.manifest.{LossyTimes, Manifest}
import org.apache.spark.sql.colocate.write.target.{BucketedWrite, Rewritten}
import org.apache.spark.sql.execution.datasources.{
  HadoopFsRelation, InMemoryFileIndex, InsertIntoHadoopFsRelationCommand, LogicalRelation, PartitionedFile
}
import org.apache.spark.sql.types.StructType

/**
 * Rewrites the rows of the strays in one folder of a native table into files of their buckets. A folder has no commit:
 * as with Spark's own INSERT OVERWRITE, the last part, a few renames, can be seen by a query that lists the folder in
 * this moment. If the driver ends meanwhile, the next repair finishes it.
 *
 * @param token of the claim by which this driver does it, see [[RewriteFolder]]
 */
private[jobs] case class NativeRewrite(session: SparkSession, scan: MemberScan, part: String, token: String) {

  private val fs = UnfinishedRewrites.fileSystem(session, scan)
  private val folder: Path = fs.makeQualified(if (part.isEmpty) scan.root else new Path(scan.root, part))
  private val relation: HadoopFsRelation = scan.relation
  private val work = RewriteFolder.of(fs, scan.root, token)

  /** others: the work folders of claims that have ended, whether their owners know it or not. */
  def run(others: Seq[String]): Rewritten = removedOnFailure {
    others.foreach(work.takeOver)
    val strays = scan.strays.filter(_.toPath.getParent == folder).filter(file => fs.exists(file.toPath))
    val done = if (strays.isEmpty) Rewritten(0, 0) else rewrite(strays)
    work.remove()
    done
  }

  private def rewrite(strays: Seq[PartitionedFile]): Rewritten = {
    write(strays, work.written)
    TestHook.before("rewrite:written")
    val journal = RewriteJournal(
      folder.toString,
      dataFiles(work.keepWritten()).map(_.getPath.getName).toList,
      strays.map(file => StrayEntry(file.toPath.getName, file.fileSize, file.modificationTime)).toList)
    if (work.finish(journal)) {
      record(journal.files.map(name => fs.getFileStatus(new Path(folder, name))))
      Rewritten(strays.size, journal.files.size)
    } else Rewritten(0, 0)
  }

  /** A work folder with a journal stays, for the next repair. */
  private def removedOnFailure[A](attempt: => A): A =
    try attempt
    catch {
      case e @ (NonFatal(_) | _: InterruptedException) =>
        try work.removeIfDone()
        catch { case NonFatal(left) => e.addSuppressed(left) }
        throw e
    }

  private def dataFiles(in: Path): Seq[FileStatus] =
    fs.listStatus(in).toSeq.filter(f => f.isFile && !f.getPath.getName.startsWith("_"))

  private def write(strays: Seq[PartitionedFile], to: Path): Unit = {
    val rows = read(strays)
    val spec = relation.bucketSpec.get
    def column(name: String) = rows.output.find(_.name == name).get
    val sorted = BucketedWrite.native(
      rows, spec.bucketColumnNames.map(column), spec.numBuckets, spec.sortColumnNames.map(column), scan.table)
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
