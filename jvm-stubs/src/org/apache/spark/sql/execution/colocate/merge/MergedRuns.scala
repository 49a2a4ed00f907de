package org.apache.spark.sql.execution.colocate.merge

import org.apache.spark.sql.catalyst.InternalRow

/** Rows in a known order, at one of them. */
private[merge] trait SortedRun {

  /** The row that the run is at, until it moves on; and the row's prefix (see KeyOrder). */
  def row: InternalRow
  def prefix: Long

  /** Was the last row passed? */
  def isDone: Boolean

  /** Moves to the next row; at first, to the first one. */
  def advance(): Unit
}

/**
 * The rows of several runs in one order. A tree of losers (Knuth, The Art of Computer Programming 3, 5.4.1)
 * compares each row with those of about log2(runs) others. A row is valid until the next one is asked for.
 */
private[merge] class MergedRuns(runs: Array[SortedRun], order: KeyOrder) extends Iterator[InternalRow] {

  private val leaves = Iterator.iterate(1)(_ * 2).dropWhile(_ < runs.length).next()

  /** The prefix of each run's row, side by side, since most comparisons need nothing else. */
  private val prefixes = Array.fill(leaves)(Long.MaxValue)

  /** At 0 the run whose row is next; at i > 0 the loser among the winners below 2 i and 2 i + 1. */
  private val tree = new Array[Int](leaves)

  runs.indices.foreach(advance)
  tree(0) = winnerBelow(1)

  /** Was the row of this run returned? The run moves on when the next row is asked for. */
  private var isTaken = false

  override def hasNext: Boolean = {
    if (isTaken) {
      isTaken = false
      advance(tree(0))
      tree(0) = replayed(tree(0))
    }
    !runs(tree(0)).isDone
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException
    isTaken = true
    runs(tree(0)).row
  }

  private def advance(run: Int): Unit = {
    runs(run).advance()
    prefixes(run) = if (runs(run).isDone) Long.MaxValue else runs(run).prefix
  }

  private def winnerBelow(node: Int): Int =
    if (node >= leaves) node - leaves
    else {
      val (left, right) = (winnerBelow(2 * node), winnerBelow(2 * node + 1))
      val isRight = isBefore(right, left)
      tree(node) = if (isRight) left else right
      if (isRight) right else left
    }

  private def replayed(run: Int): Int = {
    var best = run
    var node = (run + leaves) / 2
    while (node > 0) {
      val other = tree(node)
      if (isBefore(other, best)) {
        tree(node) = best
        best = other
      }
      node /= 2
    }
    best
  }

  private def isBefore(a: Int, b: Int): Boolean =
    if (prefixes(a) != prefixes(b)) prefixes(a) < prefixes(b)
    else if (isPast(a)) false
    else isPast(b) || order.compareWhole(prefixes(a), runs(a).row, runs(b).row) < 0

  /** Leaves without a run, and runs that have ended, come last. */
  private def isPast(leaf: Int): Boolean = leaf >= runs.length || runs(leaf).isDone
}
