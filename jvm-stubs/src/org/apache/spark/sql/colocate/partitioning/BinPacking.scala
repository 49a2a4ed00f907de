package org.apache.spark.sql.colocate.partitioning

/** Distributes pieces of work over bins. `distribute` puts the largest first, each into the emptiest bin. */
private[colocate] object BinPacking {

  /** `count` bins, some of them perhaps empty. The same pieces in the same order give the same bins. */
  def distribute[A](pieces: Seq[A], count: Int)(bytes: A => Long): Seq[Seq[A]] = {
    val bins = Array.fill(count)(List.empty[A])
    val filled = new Array[Long](count)
    pieces.sortBy(piece => -bytes(piece)).foreach { piece =>
      val emptiest = filled.indices.minBy(filled(_))
      bins(emptiest) ::= piece
      filled(emptiest) += bytes(piece)
    }
    bins.toSeq.map(_.reverse)
  }

  /** Bins of at most `target`, but for single pieces that are larger: the first bin with room takes a piece. */
  def pack(pieces: Seq[(Int, Long)], target: Long): Seq[Seq[Int]] = {
    val bins = Seq.newBuilder[Seq[Int]]
    var bin = Vector.empty[Int]
    var filled = 0L
    pieces.sortBy(-_._2).foreach { case (piece, bytes) =>
      if (bin.nonEmpty && filled + bytes > target) {
        bins += bin
        bin = Vector.empty
        filled = 0L
      }
      bin :+= piece
      filled += bytes
    }
    if (bin.nonEmpty) bins += bin
    bins.result()
  }

  /** How long `workers` take over tasks of these sizes, in bytes, when they start the largest first. */
  def makespan(tasks: Seq[Long], workers: Int): Long = {
    val busy = scala.collection.mutable.PriorityQueue.fill(workers.max(1))(0L)(Ordering.Long.reverse)
    tasks.sorted(Ordering.Long.reverse).foreach(bytes => busy.enqueue(busy.dequeue() + bytes))
    busy.max
  }
}
