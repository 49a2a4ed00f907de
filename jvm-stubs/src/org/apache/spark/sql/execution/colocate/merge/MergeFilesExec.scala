package org.apache.spark.sql.execution.colocate.merge

import org.apache.spark.SparkException
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Ascending, Attribute, SortOrder, UnsafeProjection}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.colocate.evidence.delta.{SortedFiles, SortedTags}
import org.apache.spark.sql.colocate.scan.ColocatedScanExec
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.execution.{
  InputAdapter, InputRDDCodegen, LocalTableScanExec, SortExec, SparkPlan, UnaryExecNode
}

/**
 * Reads a scan's files by merging: rows with equal keys are neighbours. All files of a bucket and partition are open at
 * the same time. A task with several of these merges one after the other. Files that are not sorted are sorted first.
 *
 * @param keys   what the files are sorted by; no key is in two buckets or partitions
 * @param byLoad do rows with equal keys come in the order of Delta's numbers of rows? All files have a place then (see
 *               SortedFiles)
 * @param child  the scan, which makes batches
 */
case class MergeFilesExec(keys: Seq[Attribute], byLoad: Boolean, child: SparkPlan)
    extends UnaryExecNode with InputRDDCodegen {

  override def output: Seq[Attribute] = child.output

  override protected def stringArgs: Iterator[Any] =
    Iterator(keys.mkString("[", ", ", "]")) ++ Option.when(byLoad)("in the order of loads")

  override def outputPartitioning: Partitioning = child.outputPartitioning

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"))

  override protected val createUnsafeProjection: Boolean = true

  def scan: ColocatedScanExec = (child match {
    case InputAdapter(scan) => scan
    case scan => scan
  }).asInstanceOf[ColocatedScanExec]

  override lazy val inputRDD: RDD[InternalRow] = {
    val read = scan.byFile
    val files = read.tasks.flatMap(_.files).toIndexedSeq
    val known = SortedTags.filesOf(scan.relation.location, keys.map(_.name))
    // The tasks get it with its child, so that is a small one.
    val sort = SortExec(keys.map(SortOrder(_, Ascending)), global = false, LocalTableScanExec(output, Nil, None))
    new MergedFilesRDD(
      read.batches, inOrder(read.byPartition, files, known), files.map(known.has), read.places, keys, output,
      () => sort.createSorter(), scan.evidence.table)
  }

  /** Orders the files: among rows with equal keys, a merge gives those of the first file first. */
  private def inOrder(
      tasks: IndexedSeq[Seq[Seq[Int]]],
      files: IndexedSeq[PartitionedFile],
      known: SortedFiles): IndexedSeq[Seq[Seq[Int]]] =
    if (!byLoad) tasks
    else {
      val places = files.map(file => known.placeOf(file).getOrElse(
        throw SparkException.internalError(s"${file.urlEncodedPath} of ${scan.evidence.table} has no place")))
      tasks.map(_.map(_.sortBy(places)))
    }

  override protected def doExecute(): RDD[InternalRow] = {
    val rows = longMetric("numOutputRows")
    inputRDD.mapPartitionsWithIndexInternal { (task, merged) =>
      val toUnsafe = UnsafeProjection.create(output, output)
      toUnsafe.initialize(task)
      merged.map { row => rows += 1; toUnsafe(row) }
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): MergeFilesExec = copy(child = newChild)
}
