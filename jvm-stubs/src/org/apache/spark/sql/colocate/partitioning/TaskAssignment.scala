package org.apache.spark.sql.colocate.partitioning

import org.apache.spark.sql.colocate.scan.BinPacking

/** One way to deal a join's cells out to tasks, and the bytes that each task would read. */
private[colocate] case class TaskAssignment(shares: TaskSlices, bytes: Seq[Long]) {
  /** taskCost: bytes that are as much work as a task without any. */
  def makespan(cores: Int, taskCost: Long): Long = BinPacking.makespan(bytes.map(_ + taskCost), cores)
  def work: Long = bytes.sum
  def tasks: Int = shares.tasks.size
}

private[colocate] object TaskAssignment {

  /** As the layout has it: one task for each cell. */
  def byCell(all: Seq[Long]): TaskAssignment =
    TaskAssignment(TaskSlices(all.size, all.indices.map(cell => TaskSlice(Seq(cell)))), all)

  /** No cell is split; small ones share a task of up to `target` bytes. */
  def packed(all: Seq[Long], target: Long): TaskAssignment = from(all.size, Nil, packs(all, all.indices, target))

  /**
   * Cells of which the split side has more than twice the target are split, the small rest shares tasks.
   *
   * @param all    bytes of each cell, of all scans
   * @param split  bytes of each cell, of the scan that is split
   * @param pieces the pieces into which that scan's files of a cell can be cut for so many parts, as bytes of work
   * @param target bytes of a task
   * @param least  bytes below which a part is not worth a task
   * @param pack   bytes up to which small cells share a task; None for one each
   */
  def spread(
      all: Seq[Long],
      split: Seq[Long],
      pieces: (Int, Int) => Seq[Long],
      target: Long,
      least: Long,
      maxParts: Int,
      pack: Option[Long]): TaskAssignment = {
    val bins = all.indices.filter(cell => split(cell) > 2 * target && split(cell) >= 2 * least).flatMap { cell =>
      val wanted = ((split(cell) + target - 1) / target).min(maxParts.toLong).toInt
      val parts = wanted.min(pieces(cell, wanted).size)
      Option.when(parts > 1) {
        cell -> BinPacking.deal(pieces(cell, parts), parts)(identity).map(_.sum + all(cell) - split(cell))
      }
    }
    val hot = bins.map(_._1).toSet
    val rest = all.indices.filterNot(hot)
    from(all.size, bins, pack.fold[Seq[(Seq[Int], Long)]](rest.map(cell => Seq(cell) -> all(cell)))(packs(all, rest, _)))
  }

  private def packs(all: Seq[Long], cells: Seq[Int], target: Long): Seq[(Seq[Int], Long)] =
    BinPacking.pack(cells.map(cell => cell -> all(cell)), target).map(bin => bin.sorted -> bin.map(all).sum)

  /** Tasks start in their order: the largest first. */
  private def from(cells: Int, split: Seq[(Int, Seq[Long])], whole: Seq[(Seq[Int], Long)]): TaskAssignment = {
    val parts = split.flatMap { case (cell, bytes) =>
      bytes.zipWithIndex.map { case (size, part) => TaskSlice(Seq(cell), part, bytes.size) -> size }
    }
    val tasks = (parts ++ whole.map { case (bin, size) => TaskSlice(bin) -> size }).sortBy(-_._2)
    TaskAssignment(TaskSlices(cells, tasks.map(_._1)), tasks.map(_._2))
  }
}
