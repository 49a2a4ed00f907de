package org.apache.spark.sql.colocate.evidence.manifest

import scala.collection.mutable

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SaveMode
import org.apache.spark.sql.catalyst.catalog.CatalogTypes.TablePartitionSpec
import org.apache.spark.sql.catalyst.catalog.{BucketSpec, CatalogTable}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.colocate.evidence.files.{FileStamp, NativeEvidence, OrcTimes}
import org.apache.spark.sql.execution.datasources._
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.util.SerializableConfiguration

/**
 * Spark's own write into a native table, which records the files that it has committed in the table's manifest. A
 * writer that dies between its commit and the record leaves files that are checked when they are first read by bucket.
 */
class RecordedInsert(
    path: Path,
    static: TablePartitionSpec,
    ifAbsent: Boolean,
    partitions: Seq[Attribute],
    spec: Option[BucketSpec],
    format: FileFormat,
    writeOptions: Map[String, String],
    rows: LogicalPlan,
    saveMode: SaveMode,
    table: Option[CatalogTable],
    index: Option[FileIndex],
    names: Seq[String])
    extends InsertIntoHadoopFsRelationCommand(
      path, static, ifAbsent, partitions, spec, format, writeOptions, rows, saveMode, table, index, names) {

  // Otherwise the analyzer takes it for equal to Spark's command, and keeps that one.
  override def canEqual(other: Any): Boolean = other.isInstanceOf[RecordedInsert]

  override def basicWriteJobStatsTracker(hadoopConf: Configuration): BasicWriteJobStatsTracker =
    new NamedFiles(new SerializableConfiguration(hadoopConf), metrics, record(hadoopConf, _))

  private def record(hadoopConf: Configuration, written: Seq[String]): Unit =
    for {
      buckets <- bucketSpec
      layout <- NativeEvidence.layoutOf(buckets, DataTypeUtils.fromAttributes(outputColumns))
      // Files whose stored keys may differ from the hashed ones are checked when they are read.
      if layout.keyTypes.forall(LossyTimes.of(conf, _).isEmpty) && !OrcTimes.mayChange(fileFormat, layout)
    } {
      val fs = outputPath.getFileSystem(hadoopConf)
      val root = fs.makeQualified(outputPath)
      val ours = written.map(new Path(_).getName).toSet
      // Below the folder of the write, which depends on the committer, the partition's folders are as in the table.
      val folders = written.map(file => partitionOf(new Path(file).getParent)).distinct.map(below(root, _))
      val files = folders.filter(fs.exists).flatMap(fs.listStatus(_)).filter(f => ours(f.getPath.getName))
      Manifest.add(hadoopConf, root, layout, files.map(FileStamp.of(root, _) -> false).toMap)
    }

  private def partitionOf(folder: Path): Seq[String] =
    Iterator.iterate(folder)(_.getParent).take(partitionColumns.size).map(_.getName).toSeq.reverse

  private def below(root: Path, folders: Seq[String]): Path = folders.foldLeft(root)(new Path(_, _))

  override protected def withNewChildInternal(newChild: LogicalPlan): InsertIntoHadoopFsRelationCommand =
    RecordedInsert(copy(query = newChild))
}

object RecordedInsert {

  // The constructor's parameters are those of Spark's command, because plans are copied by reflection.
  def apply(insert: InsertIntoHadoopFsRelationCommand): RecordedInsert =
    new RecordedInsert(
      insert.outputPath, insert.staticPartitions, insert.ifPartitionNotExists, insert.partitionColumns,
      insert.bucketSpec, insert.fileFormat, insert.options, insert.query, insert.mode, insert.catalogTable,
      insert.fileIndex, insert.outputColumnNames)
}

/** Spark's statistics of a write, and the names of its files. Only tasks whose work is committed are counted. */
private class NamedFiles(
    conf: SerializableConfiguration,
    @transient metrics: Map[String, SQLMetric],
    @transient record: Seq[String] => Unit)
    extends BasicWriteJobStatsTracker(conf, metrics) {

  private val commitTime = metrics(BasicWriteJobStatsTracker.TASK_COMMIT_TIME)

  override def newTaskInstance(): WriteTaskStatsTracker = new NamedFilesOfTask(conf.value, commitTime)

  override def processStats(stats: Seq[WriteTaskStats], jobCommitTime: Long): Unit = {
    val named = stats.map(_.asInstanceOf[NamedStats])
    super.processStats(named.map(_.basic), jobCommitTime)
    record(named.flatMap(_.files))
  }
}

private case class NamedStats(basic: WriteTaskStats, files: Seq[String]) extends WriteTaskStats

private class NamedFilesOfTask(conf: Configuration, commitTime: SQLMetric)
    extends BasicWriteTaskStatsTracker(conf, Some(commitTime)) {

  private val files = mutable.ArrayBuffer.empty[String]

  override def newFile(filePath: String): Unit = {
    files += filePath
    super.newFile(filePath)
  }

  override def getFinalStats(taskCommitTime: Long): WriteTaskStats =
    NamedStats(super.getFinalStats(taskCommitTime), files.toSeq)
}
