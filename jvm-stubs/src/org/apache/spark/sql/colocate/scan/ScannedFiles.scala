package org.apache.spark.sql.colocate.scan

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.execution.datasources.FilePartition
import org.apache.spark.sql.vectorized.ColumnarBatch

/**
 * The files of a scan, to be read in turns.
 *
 * @param batches one partition for each file, in the order of the tasks and of their files
 * @param tasks   the files of each task
 * @param places  the hosts that the tasks prefer; None where they prefer none
 */
private[sql] case class ScannedFiles(
    batches: RDD[ColumnarBatch], tasks: Seq[FilePartition], places: Option[TaskPlaces]) {

  /** For each task the files of each bucket and partition, by the numbers of their partitions in `batches`. */
  def byPartition: IndexedSeq[Seq[Seq[Int]]] = {
    val first = tasks.scanLeft(0)(_ + _.files.length)
    tasks.zip(first).map { case (task, start) =>
      task.files.indices.groupBy(task.files(_).partitionValues).values.toSeq.sortBy(_.min).map(_.map(start + _))
    }.toIndexedSeq
  }
}
