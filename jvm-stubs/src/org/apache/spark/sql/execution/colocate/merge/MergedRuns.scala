package org.apache.spark.sql.execution.colocate.merge

import org.apache.spark.sql.catalyst.InternalRow

/** A cursor over rows in a known order. */
private[merge] trait SortedRun {

  /** The row that the run is at, until it moves on. */
  def row: InternalRow

  /** The row's prefix (see KeyOrder). Once the last row was passed, the greatest number. */
  def prefix: Long

  /** Was the last row passed? */
  def isDone: Boolean

  /** Moves to the next row; at first, to the first one. */
  def advance(): Unit
}

/**
 * The rows of several runs in one order; of equal rows, those of the first run come first. A tree of losers (Knuth, The
 * Art of Computer Programming 3, 5.4.1) compares each row with those of about log2(runs) others.
 */
private[merge] class MergedRuns(runs: Array[SortedRun], order: KeyOrder) {

  private val leaves = Iterator.iterate(1)(_ * 2).dropWhile(_ < runs.length).next()

  /** At index i > 0: the loser among the winners below 2 i and 2 i + 1, and the prefix of its row. */
  private val losers = new Array[Int](leaves)
  private val prefixes = new Array[Long](leaves)

  /** The run whose row is next; -1 before the first row. */
  private var winner = -1

  /** The row that the merge is at, until it moves on. */
  def row: InternalRow = runs(winner).row

  /** Moves to the next row; at first, to the first one. Returns whether there is one. */
  def advance(): Boolean = {
    val prefix = if (winner < 0) start() else {
      runs(winner).advance()
      replay()
    }
    prefix != Long.MaxValue || !isPast(winner)
  }

  /** Finds the first winner, and returns the prefix of its row. */
  private def start(): Long = {
    runs.foreach(_.advance())
    winner = winnerBelow(1)
    prefixOf(winner)
  }

  private def winnerBelow(node: Int): Int =
    if (node >= leaves) node - leaves
    else {
      val (left, right) = (winnerBelow(2 * node), winnerBelow(2 * node + 1))
      val isRight = prefixOf(right) < prefixOf(left) || prefixOf(right) == prefixOf(left) && winsTie(right, left)
      losers(node) = if (isRight) left else right
      prefixes(node) = prefixOf(losers(node))
      if (isRight) right else left
    }

  /**
   * Finds the next winner after the last one has moved on, and returns the prefix of its row.
   *
   * Which of two rows comes first can't be predicted, and a processor that predicts it wrongly loses more time than the
   * comparison takes. So the two change places without a branch: with `swap` of ones they do, with zeros they don't.
   */
  private def replay(): Long = {
    var run = winner
    var prefix = prefixOf(run)
    var node = (run + leaves) / 2
    while (node > 0) {
      val other = losers(node)
      val otherPrefix = prefixes(node)
      var swap = if (otherPrefix < prefix) -1L else 0L
      if (otherPrefix == prefix && winsTie(other, run)) swap = -1L
      val runBits = (other ^ run) & swap.toInt
      val prefixBits = (otherPrefix ^ prefix) & swap
      losers(node) = other ^ runBits
      prefixes(node) = otherPrefix ^ prefixBits
      run ^= runBits
      prefix ^= prefixBits
      node /= 2
    }
    winner = run
    prefix
  }

  /** Does the row of `a` come before the one of `b`, which has the same prefix? */
  private def winsTie(a: Int, b: Int): Boolean =
    if (isPast(a)) false
    else isPast(b) || {
      val compared = order.compareWhole(prefixOf(a), runs(a).row, runs(b).row)
      compared < 0 || compared == 0 && a < b
    }

  private def prefixOf(leaf: Int): Long = if (leaf < runs.length) runs(leaf).prefix else Long.MaxValue

  /** Leaves without a run, and runs that have ended, come last. */
  private def isPast(leaf: Int): Boolean = leaf >= runs.length || runs(leaf).isDone
}
