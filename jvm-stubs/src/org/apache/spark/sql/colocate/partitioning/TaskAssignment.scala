package org.apache.spark.sql.colocate.partitioning

/** One way to assign a join's residues (see [[TaskSlices]]) to tasks, and the bytes that each task would read. */
private[colocate] case class TaskAssignment(shares: TaskSlices, bytes: Seq[Long]) {
  /** Estimated run time, in bytes. taskCost: the fixed cost of a task, in the bytes that could be read in that time. */
  def makespan(cores: Int, taskCost: Long): Long = BinPacking.makespan(bytes.map(_ + taskCost), cores)
  def work: Long = bytes.sum
  def tasks: Int = shares.tasks.size
}

private[colocate] object TaskAssignment {

  /** One task for each residue. */
  def byResidue(all: Seq[Long]): TaskAssignment =
    TaskAssignment(TaskSlices(all.size, all.indices.map(residue => TaskSlice(Seq(residue)))), all)

  /** Small residues share tasks of up to `target` bytes; none is split. */
  def packed(all: Seq[Long], target: Long): TaskAssignment = from(all.size, Nil, packs(all, all.indices, target))

  /**
   * A residue is split if the split scan reads more than twice `target` of it. Of the others, small ones share tasks.
   *
   * @param all    bytes of each residue, of all scans
   * @param split  bytes of each residue, of the scan that is split
   * @param pieces from a residue and a number of parts to the work, in bytes, of each piece into which the files of the
   *               split scan can be cut
   * @param target bytes of a task
   * @param least  bytes below which a part is not worth a task
   * @param pack   bytes up to which residues share a task; None for one task for each residue
   */
  def spread(
      all: Seq[Long],
      split: Seq[Long],
      pieces: (Int, Int) => Seq[Long],
      target: Long,
      least: Long,
      maxParts: Int,
      pack: Option[Long]): TaskAssignment = {
    val bins = all.indices.filter(residue => split(residue) > 2 * target && split(residue) >= 2 * least)
      .flatMap { residue =>
      val wanted = ((split(residue) + target - 1) / target).min(maxParts.toLong).toInt
      val parts = wanted.min(pieces(residue, wanted).size)
      Option.when(parts > 1) {
        residue -> BinPacking.distribute(pieces(residue, parts), parts)(identity)
          .map(_.sum + all(residue) - split(residue))
      }
    }
    val hot = bins.map(_._1).toSet
    val rest = all.indices.filterNot(hot)
    def single: Seq[(Seq[Int], Long)] = rest.map(residue => Seq(residue) -> all(residue))
    from(all.size, bins, pack.fold(single)(packs(all, rest, _)))
  }

  private def packs(all: Seq[Long], residues: Seq[Int], target: Long): Seq[(Seq[Int], Long)] =
    BinPacking.pack(residues.map(residue => residue -> all(residue)), target).map(bin => bin.sorted -> bin.map(all).sum)

  /** Tasks sorted by size: Spark starts them in this order, and the largest should start first. */
  private def from(residues: Int, split: Seq[(Int, Seq[Long])], whole: Seq[(Seq[Int], Long)]): TaskAssignment = {
    val parts = split.flatMap { case (residue, bytes) =>
      bytes.zipWithIndex.map { case (size, part) => TaskSlice(Seq(residue), part, bytes.size) -> size }
    }
    val tasks = (parts ++ whole.map { case (bin, size) => TaskSlice(bin) -> size }).sortBy(-_._2)
    TaskAssignment(TaskSlices(residues, tasks.map(_._1)), tasks.map(_._2))
  }
}
