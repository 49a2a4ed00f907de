package org.apache.spark.sql.execution.colocate.merge

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.execution.UnsafeExternalRowSorter
import org.apache.spark.sql.vectorized.ColumnarBatch
import org.apache.spark.{InterruptibleIterator, NarrowDependency, Partition, TaskContext}

/**
 * The rows of the files of each bucket and partition, merged by their order. Files that are not sorted are sorted
 * together first.
 *
 * @param files one partition for each file
 * @param tasks for each task the sets of files to merge, by the numbers of their partitions in `files`
 * @param sorted for each file: is it sorted?
 * @param hosts that each task prefers; empty if none does
 */
private[merge] class MergedFilesRDD(
    files: RDD[ColumnarBatch],
    tasks: IndexedSeq[Seq[Seq[Int]]],
    sorted: IndexedSeq[Boolean],
    @transient hosts: Seq[Seq[String]],
    keys: Seq[Attribute],
    input: Seq[Attribute],
    sorter: () => UnsafeExternalRowSorter,
    table: String)
    extends RDD[InternalRow](
      files.sparkContext,
      Seq(new NarrowDependency[ColumnarBatch](files) {
        override def getParents(task: Int): Seq[Int] = tasks(task).flatten
      })) {

  override protected def getPartitions: Array[Partition] = {
    val ofFiles = firstParent[ColumnarBatch].partitions
    tasks.indices.map { task =>
      MergedFilesTask(task, tasks(task).map(_.map(file => FileOfSet(ofFiles(file), sorted(file)))))
    }.toArray
  }

  override protected def getPreferredLocations(task: Partition): Seq[String] = hosts.lift(task.index).getOrElse(Nil)

  override def compute(task: Partition, context: TaskContext): Iterator[InternalRow] = {
    val order = new KeyOrder(keys, input)
    def read(file: FileOfSet) = firstParent[ColumnarBatch].iterator(file.partition, context)
    val rows = task.asInstanceOf[MergedFilesTask].sets.iterator.flatMap { set =>
      val (sortedFiles, others) = set.partition(_.isSorted)
      val runs = sortedFiles.map(file => new SortedFile(read(file), input, order, table)) ++
        Option.when(others.nonEmpty)(new SortedRows(others.iterator.flatMap(read), input, order, sorter()))
      new MergedRuns(runs.toArray, order)
    }
    new InterruptibleIterator(context, rows)
  }
}

private case class FileOfSet(partition: Partition, isSorted: Boolean)

/** The sets of files that a task merges. */
private case class MergedFilesTask(index: Int, sets: Seq[Seq[FileOfSet]]) extends Partition
