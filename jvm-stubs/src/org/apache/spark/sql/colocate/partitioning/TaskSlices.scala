package org.apache.spark.sql.colocate.partitioning

import org.apache.spark.sql.catalyst.plans.physical.{Partitioning, PartitioningCollection}

/** What one task reads: either one or more whole residues, or part number `part` out of `parts` of a single residue. */
case class TaskSlice(residues: Seq[Int], part: Int = 0, parts: Int = 1)

/**
 * The tasks of a join that SpreadJoins has changed. The tables of a join may have different bucket counts; `residues`
 * is the number of tasks by which all of them were read before. Residue c of a table is what task c read: all buckets b
 * with b mod `residues` = c, see ReadMode.ByBucket.
 */
case class TaskSlices(residues: Int, tasks: Seq[TaskSlice]) {

  /** Is every residue, or each of its parts, in exactly one task? The scan fails otherwise. */
  def coverAll: Boolean = {
    val parts = tasks.flatMap(task => task.residues.map(residue => (residue, task.parts, task.part))).groupBy(_._1)
    parts.keySet == (0 until residues).toSet && parts.values.forall { of =>
      of.map(_._2).distinct.size == 1 && of.map(_._3).sorted == (0 until of.head._2)
    }
  }

  def isSplit: Boolean = tasks.exists(_.parts > 1)

  def isPacked: Boolean = tasks.exists(_.residues.size > 1)

  /** The text for EXPLAIN. */
  def describe: String = {
    val parts = tasks.filter(_.parts > 1).map(task => task.residues.head -> task.parts).distinct.sorted
    val named = parts.take(3).map { case (bucket, count) => s"bucket $bucket in $count parts" }
    val rest = Option.when(parts.size > named.size)(s"${parts.size - named.size} more in parts")
    (s"${tasks.size} tasks" +: (named ++ rest)).mkString(", ")
  }
}

/**
 * The partitioning of a scan in a join that SpreadJoins has changed: the rows of one bucket may be in several tasks,
 * and several buckets in one task. It satisfies no distribution that groups rows by keys. EXPLAIN uses `layout`, the
 * bucket partitioning before that change.
 */
case class SpreadPartitioning(layout: ColocatedPartitioning, shares: TaskSlices) extends Partitioning {
  override val numPartitions: Int = shares.tasks.size
}

object SpreadPartitioning {

  def in(partitioning: Partitioning): Option[SpreadPartitioning] = partitioning match {
    case spread: SpreadPartitioning => Some(spread)
    case PartitioningCollection(all) => all.flatMap(in).headOption
    case _ => None
  }
}
