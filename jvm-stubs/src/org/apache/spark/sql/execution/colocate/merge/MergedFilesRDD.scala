package org.apache.spark.sql.execution.colocate.merge

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeProjection}
import org.apache.spark.sql.colocate.scan.TaskPlaces
import org.apache.spark.sql.execution.UnsafeExternalRowSorter
import org.apache.spark.sql.vectorized.ColumnarBatch
import org.apache.spark.{NarrowDependency, Partition, TaskContext}

/**
 * The rows of the files of each bucket and partition, merged by their order. Files that are not sorted are sorted
 * together first.
 *
 * @param files one partition for each file
 * @param tasks for each task the sets of files to merge, by the numbers of their partitions in `files`
 * @param sorted for each file: is it sorted?
 * @param places the hosts that the tasks prefer; None where they prefer none
 */
private[merge] class MergedFilesRDD(
    files: RDD[ColumnarBatch],
    tasks: IndexedSeq[Seq[Seq[Int]]],
    sorted: IndexedSeq[Boolean],
    places: Option[TaskPlaces],
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

  override protected def getPreferredLocations(task: Partition): Seq[String] =
    places.fold(Seq.empty[String])(_.hostsOf(task.index))

  override def compute(task: Partition, context: TaskContext): Iterator[InternalRow] = {
    places.foreach(_.count(task.index))
    val order = new KeyOrder(keys, input)
    val copy = UnsafeProjection.create(input, input)
    def read(file: FileOfSet) = firstParent[ColumnarBatch].iterator(file.partition, context)
    new InTurn(task.asInstanceOf[MergedFilesTask].sets.iterator.map { set =>
      val (sortedFiles, others) = set.partition(_.isSorted)
      val runs = sortedFiles.map(file => new SortedFile(read(file), copy, order, table)) ++
        Option.when(others.nonEmpty)(new SortedRows(others.iterator.flatMap(read), input, order, sorter()))
      new MergedRuns(runs.toArray, order)
    })
  }
}

private case class FileOfSet(partition: Partition, isSorted: Boolean)

/** The sets of files that a task merges. */
private case class MergedFilesTask(index: Int, sets: Seq[Seq[FileOfSet]]) extends Partition

/** The rows of all sets, one set after the other. The reads see to it if a task ends. */
private class InTurn(sets: Iterator[MergedRuns]) extends Iterator[InternalRow] {
  private var set: MergedRuns = _
  private var isAtRow = false

  override def hasNext: Boolean = {
    if (!isAtRow) isAtRow = set != null && set.advance() || nextSet()
    isAtRow
  }

  private def nextSet(): Boolean = {
    set = sets.find(_.advance()).orNull
    set != null
  }

  /** The row is valid until the next one is asked for. */
  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException
    isAtRow = false
    set.row
  }
}
