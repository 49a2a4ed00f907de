package org.apache.spark.sql.colocate.evidence.verify

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.{SparkException, TaskContext}

/**
 * The checked reads of one task. A join may stop before it has seen all rows of a side; a row of another bucket among
 * the rest would be missing elsewhere. So the last operator of a task that checks reads the rest, or the task fails.
 */
private[colocate] class OpenReads private {
  private var reads = List.empty[Iterator[Any]]
  private var areFinished = false

  private def finish(): Unit = {
    reads.foreach(rows => while (rows.hasNext) rows.next())
    areFinished = true
  }

  private def end(task: TaskContext): Unit =
    if (!areFinished && !task.isFailed() && !task.isInterrupted()) {
      throw SparkException.internalError("A task ended before the rows that it reads by bucket were checked.")
    }
}

private[colocate] object OpenReads {
  private val byTask = new ConcurrentHashMap[TaskContext, OpenReads]

  /** Rows that this task must read to their end. */
  def add[A](rows: Iterator[A]): Iterator[A] = {
    val task = TaskContext.get()
    val open = byTask.computeIfAbsent(
      task,
      _ => {
        val open = new OpenReads
        task.addTaskCompletionListener[Unit] { ended => byTask.remove(task); open.end(ended) }
        open
      })
    open.reads ::= rows
    rows
  }

  /** The last rows of a task: behind them, the rest of what it must read. */
  def finishAfter[A](rows: Iterator[A]): Iterator[A] = new Iterator[A] {
    private val open = Option(byTask.get(TaskContext.get()))

    override def hasNext: Boolean = rows.hasNext || {
      open.filterNot(_.areFinished).foreach(_.finish())
      false
    }

    override def next(): A = rows.next()
  }
}
