package org.apache.spark.sql.colocate.scan

import org.apache.spark.sql.colocate.partitioning.TaskSlices

/** How a scan assigns the buckets of a table to tasks. */
sealed trait ReadMode

object ReadMode {

  /** Task t reads every bucket b with b mod `tasks` = t; `tasks` divides the table's bucket count. */
  case class ByBucket(tasks: Int) extends ReadMode

  /** One task for each bucket with files, so there are no empty tasks; the number of a task is not its bucket's id. */
  case object ByFilledBucket extends ReadMode

  /**
   * The tasks of a spread join, which are the same for all its scans.
   *
   * @param split whether this scan is the one that is split: its task reads a part of a hot residue, where the other
   *              scans' tasks read all of that residue
   */
  case class ByShare(shares: TaskSlices, split: Boolean) extends ReadMode

  /** As the ordinary scan would, by bytes; only the files of buckets that a filter excluded are skipped. */
  case object ByBytes extends ReadMode
}
