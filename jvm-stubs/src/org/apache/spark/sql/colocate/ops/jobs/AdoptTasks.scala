package org.apache.spark.sql.colocate.ops.jobs

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.classic.{DataFrame, Dataset, SparkSession}
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.Json.formats
import org.apache.spark.sql.colocate.compat.TestHook
import org.apache.spark.sql.colocate.compat.delta.{AnotherCommitException, LayoutChanges, TableFile}
import org.apache.spark.sql.colocate.write.target.{BucketedWrite, FileOrder}
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.json4s.JValue

/**
 * Writes the rows of the next files of a table by bucket, as many as the step may read, into files that no version of
 * the table has yet.
 */
private[jobs] object AdoptPart extends JobTask {

  override def run(session: SparkSession, table: JobTable, args: JValue): Any = {
    val part = (args \ "part").extract[String]
    val run = AdoptRun.of(session, table, args, part)
    val next = if (run.left.isEmpty) Nil else first(run.left, (args \ "bytes").extract[Long])
    if (next.nonEmpty) stage(session, table, run, part, next)
    Map[String, Any]("files" -> next.size, "bytes" -> next.map(_.bytes).sum)
  }

  /** At least one file. */
  private def first(left: Seq[TableFile], bytes: Long): Seq[TableFile] = {
    val sums = left.scanLeft(0L)(_ + _.bytes).tail
    left.take(math.max(1, sums.takeWhile(_ <= bytes).size))
  }

  private def stage(
      session: SparkSession, table: JobTable, run: AdoptRun, part: String, files: Seq[TableFile]): Unit = {
    val rows = readOf(run, files)
    run.addColumn()
    val keys = run.layout.keys.flatMap(key => rows.output.find(_.name == key))
    val byBucket = BucketedWrite.over(rows, keys, run.layout, FileOrder.AsTheyCome)
    val added =
      try run.change.write(Dataset.ofRows(session, byBucket))
      catch { case e: RuntimeException if isRefusedRow(e) => throw refused(table, e) }
    TestHook.before("adopt:written")
    refuseLoss(table, files, added)
    run.staged.put(StagedPart(part, files.map(LayoutChanges.versionOf).toSet, added))
    TestHook.before("adopt:staged")
  }

  /** The rows with the numbers that the table gives them, if it tracks rows. */
  private def readOf(run: AdoptRun, files: Seq[TableFile]): LogicalPlan = {
    val read = run.change.read(files).asInstanceOf[DataFrame].queryExecution.analyzed
    val relation = read.collectFirst { case found: LogicalRelation => found }.get
    val (rows, numbers) = KeptRowIds.of(relation, run.change.snapshot.properties)
    Project(relation.output ++ numbers, rows)
  }

  /** Where the log says how many rows there are. */
  private def refuseLoss(table: JobTable, read: Seq[TableFile], written: Seq[TableFile]): Unit = {
    def rows(files: Seq[TableFile]) = files.map(LayoutChanges.rowsOf)
    val (before, after) = (rows(read), rows(written))
    if ((before ++ after).forall(_.isDefined) && before.flatten.sum != after.flatten.sum)
      throw new ColocateException("ADOPT_ROWS",
        s"Cannot adopt ${table.quoted}: the log counts ${before.flatten.sum} rows in some of its files, and " +
          s"${after.flatten.sum} were read. Nothing was changed. A statistic in the table's log is wrong, or a file " +
          "was damaged: compare count(*) with the table's source.")
  }

  private def isRefusedRow(e: Throwable): Boolean =
    e.getClass.getName.endsWith("InvariantViolationException")

  private def refused(table: JobTable, e: RuntimeException): ColocateException = new ColocateException("ADOPT_ROWS",
    s"Cannot adopt ${table.quoted}: a row breaks a rule of the table, so that Delta does not write it anew: " +
      s"${e.getMessage.linesIterator.next()} Nothing was changed. Correct the row, or drop the constraint, and start " +
      "again.",
    Some(e))
}

/** A part counts from now on. Before this the control plane has asked the store whether the job is still its own. */
private[jobs] object AdoptKeep extends JobTask {
  override def run(session: SparkSession, table: JobTable, args: JValue): Any = {
    AdoptedFolder.find(session, table, args).foreach(_.staged.keep((args \ "part").extract[String]))
    Map.empty[String, Any]
  }
}

/**
 * Says that a commit is about to be made, if all files of the table are in a part. The control plane then asks the
 * store whether the job is still this driver's: whoever ends the job sees the mark, and makes the commit impossible.
 */
private[jobs] object AdoptMark extends JobTask {

  override def run(session: SparkSession, table: JobTable, args: JValue): Any = {
    val run = AdoptRun.of(session, table, args, part = "")
    val isReady = !run.isCommitted && run.left.isEmpty && run.staged.forgetIncomplete(run.parts).isEmpty
    if (isReady) run.staged.mark((args \ "claim").extract[String])
    TestHook.before("adopt:marked")
    Map("committed" -> run.isCommitted, "marked" -> isReady) ++ run.progress
  }
}

/** The commit. It changes nothing if another one comes first, or if the job was ended. */
private[jobs] object AdoptCommit extends JobTask {

  override def run(session: SparkSession, table: JobTable, args: JValue): Any = {
    val run = AdoptRun.of(session, table, args, part = "")
    val claim = (args \ "claim").extract[String]
    val done = run.isCommitted || (run.left.isEmpty && !run.isFenced && commit(session, run, args))
    if (!done) run.staged.unmark(claim)
    if (done) session.catalog.refreshTable(table.quoted)
    Map("committed" -> done, "fenced" -> run.isFenced)
  }

  private def commit(session: SparkSession, run: AdoptRun, args: JValue): Boolean = {
    // DESCRIBE HISTORY shows it.
    session.conf.set("spark.databricks.delta.commitInfo.userMetadata", (args \ "told").extract[String])
    run.addColumn()
    TestHook.before("adopt:ready")
    try {
      run.commit()
      TestHook.before("adopt:committed")
      true
    } catch { case _: AnotherCommitException => false }
  }
}

/** After the commit: removes what it did not take. */
private[jobs] object AdoptFinish extends JobTask {
  override def run(session: SparkSession, table: JobTable, args: JValue): Any = {
    AdoptedFolder.find(session, table, args).filter(_.isCommitted).foreach(_.finish())
    Map.empty[String, Any]
  }
}

/** Removes one part, of a driver that has lost its job meanwhile, and its mark. */
private[jobs] object AdoptDrop extends JobTask {
  override def run(session: SparkSession, table: JobTable, args: JValue): Any = {
    AdoptedFolder.find(session, table, args).foreach { folder =>
      (args \ "part").extractOpt[String].foreach(folder.staged.drop)
      (args \ "claim").extractOpt[String].foreach(folder.staged.unmark)
    }
    Map.empty[String, Any]
  }
}

/**
 * Removes all that an adoption has written, after its job was ended. If a commit may be on its way, a commit of our own
 * makes it fail first. If it was made already, its files stay.
 */
private[jobs] object AdoptDiscard extends JobTask {

  override def run(session: SparkSession, table: JobTable, args: JValue): Any =
    AdoptedFolder.find(session, table, args).fold(Map("committed" -> false, "found" -> false)) { folder =>
      if (folder.staged.isMarked) prevent(folder)
      val committed = folder.isCommitted
      if (committed) folder.finish() else folder.staged.discard()
      Map("committed" -> committed, "found" -> true)
    }

  @tailrec
  private def prevent(folder: AdoptedFolder): Unit = {
    val isSettled =
      try folder.isSettled || { folder.change.foreach(_.note(folder.staged.note)); true }
      catch { case _: AnotherCommitException => false } // it may be the one that is looked for
    if (!isSettled) prevent(folder)
  }
}
