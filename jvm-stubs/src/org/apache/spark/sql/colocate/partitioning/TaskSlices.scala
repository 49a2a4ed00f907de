package org.apache.spark.sql.colocate.partitioning

import org.apache.spark.sql.catalyst.plans.physical.{Partitioning, PartitioningCollection}

/** What one task reads: some residues as a whole, or part `part` of `parts` of a single one. */
case class TaskSlice(residues: Seq[Int], part: Int = 0, parts: Int = 1)

/**
 * The tasks of a join whose buckets were spread. Its tables may have different bucket counts; `residues` is the count
 * by which all of them are read. Residue c has the buckets b with b mod `residues` = c, as ReadMode.ByBucket reads
 * them.
 */
case class TaskSlices(residues: Int, tasks: Seq[TaskSlice]) {

  /** Is every residue in one task, or each of its parts in one? Nothing is read unless this holds. */
  def coverAll: Boolean = {
    val parts = tasks.flatMap(task => task.residues.map(residue => (residue, task.parts, task.part))).groupBy(_._1)
    parts.keySet == (0 until residues).toSet && parts.values.forall { of =>
      of.map(_._2).distinct.size == 1 && of.map(_._3).sorted == (0 until of.head._2)
    }
  }

  def isSplit: Boolean = tasks.exists(_.parts > 1)

  def isPacked: Boolean = tasks.exists(_.residues.size > 1)

  /** For EXPLAIN. */
  def describe: String = {
    val parts = tasks.filter(_.parts > 1).map(task => task.residues.head -> task.parts).distinct.sorted
    val named = parts.take(3).map { case (bucket, count) => s"bucket $bucket in $count parts" }
    val rest = Option.when(parts.size > named.size)(s"${parts.size - named.size} more in parts")
    (s"${tasks.size} tasks" +: (named ++ rest)).mkString(", ")
  }
}

/**
 * Where the rows of a spread join are: those of one bucket may be in several tasks, and several buckets in one. It
 * satisfies no distribution; EXPLAIN reads the partitioning that it was made from.
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
