package org.apache.spark.sql.colocate.scan

import org.apache.spark.sql.colocate.partitioning.TaskSlices

/** How a scan deals a table's buckets out to tasks. */
sealed trait ReadMode

object ReadMode {

  /** By bucket: task t reads every bucket b with b mod `tasks` = t; `tasks` divides the table's bucket count. */
  case class ByBucket(tasks: Int) extends ReadMode

  /** A task for each bucket that has files, and which one is not told: whole buckets, no empty tasks. */
  case object ByFilledBucket extends ReadMode

  /**
   * By the shares of a join's tasks, which both of its sides have in common.
   *
   * @param split whether this scan is the one that is split: its task reads a part of a hot cell, where the other
   *              scans' tasks read all of that cell
   */
  case class ByShare(shares: TaskSlices, split: Boolean) extends ReadMode

  /** As the ordinary scan would, by bytes; only the files of buckets that a filter ruled out are left away. */
  case object ByBytes extends ReadMode
}
